"""The operators of a batch read its source themselves."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.streaming.query import StreamingQuery

from penstock.load.curves import constant
from penstock.spark import replay
from penstock.spark.microbatch.scan import BatchScan
from penstock.spark.settings import temporary_settings
from spark_jobs import until

pytestmark = pytest.mark.spark

RECORDS = 2_000


class Batches:
    """A query that keeps, for each batch, how it was read and what came of it."""

    def __init__(
        self, stream: DataFrame, folder: Path, *, of: StreamingQuery | None = None, adaptive: bool = False
    ) -> None:
        self.plans: list[str] = []
        self.rows: list[int] = []
        self._of = of
        self._scan = BatchScan(stream.sparkSession, "twice", 2 * F.col("offset"))
        self.query: StreamingQuery | None = None
        writer = stream.writeStream.foreachBatch(self._keep).option("checkpointLocation", str(folder))
        with temporary_settings(stream.sparkSession, {"spark.sql.adaptive.enabled": str(adaptive).lower()}):
            self.query = writer.start()

    def wait(self, seconds: float | None = None) -> bool:
        assert self.query is not None
        return self.query.awaitTermination(seconds) is not False  # type: ignore[arg-type]

    def _keep(self, batch: DataFrame, number: int) -> None:
        read = self._scan.of(batch, self._of or self.query)
        # A shuffle right behind the source needs rows as Spark has them, and not as a source may hand them over.
        found = read.repartition(3).where("offset % 2 = 0").select("offset", "twice")
        self.plans.append(found._jdf.queryExecution().executedPlan().toString())
        rows = found.collect()
        assert all(row.twice == 2 * row.offset for row in rows)
        self.rows += [row.offset for row in rows]


@pytest.fixture
def replayed(spark: SparkSession) -> DataFrame:
    return replay(constant(1e6, RECORDS / 1e6), max_records_per_batch=500).stream(spark)


def test_no_row_is_made_between_the_scan_and_the_operators(replayed: DataFrame, tmp_path: Path) -> None:
    batches = Batches(replayed, tmp_path)
    until(lambda: len(batches.rows) >= RECORDS / 2, "all records", batches)
    assert batches.query is not None
    query = batches.query

    def counted() -> int:
        return sum(progress["numInputRows"] for progress in query.recentProgress)

    # How many batches there are is not known: the first may begin before all records are there.
    until(lambda: counted() >= RECORDS, "the progress of all batches", batches)
    query.stop()
    assert sorted(batches.rows) == list(range(0, RECORDS, 2))
    assert counted() == RECORDS  # the query still sees what it reads
    later = batches.plans[1:]  # the first batch may begin before the query is known
    assert all("MicroBatchScan" in plan for plan in later)
    assert not [plan for plan in later if "ExistingRDD" in plan]


def test_a_source_that_is_no_scan_is_read_as_it_is_handed_over(spark: SparkSession, tmp_path: Path) -> None:
    spark.range(100).selectExpr("id as offset").write.parquet(str(tmp_path / "in"))
    stream = spark.readStream.schema("offset long").parquet(str(tmp_path / "in"))
    batches = Batches(stream, tmp_path / "checkpoint")
    until(lambda: len(batches.rows) >= 50, "all records", batches)
    assert batches.query is not None
    batches.query.stop()
    assert sorted(batches.rows) == list(range(0, 100, 2))


def test_adaptive_execution_reads_what_is_handed_over(replayed: DataFrame, tmp_path: Path) -> None:
    batches = Batches(replayed, tmp_path, adaptive=True)
    until(lambda: len(batches.rows) >= RECORDS / 2, "all records", batches)
    assert batches.query is not None
    batches.query.stop()
    assert sorted(batches.rows) == list(range(0, RECORDS, 2))


def test_the_scan_of_another_query_is_never_taken(spark: SparkSession, replayed: DataFrame, tmp_path: Path) -> None:
    """An engine that starts again may still know its last query when the first batch of the new one begins."""
    earlier = Batches(replayed, tmp_path / "earlier")
    until(lambda: len(earlier.rows) >= RECORDS / 2, "all records", earlier)
    assert earlier.query is not None
    earlier.query.stop()
    stream = replay(constant(1e6, RECORDS / 1e6), max_records_per_batch=500).stream(spark)
    batches = Batches(stream, tmp_path / "later", of=earlier.query)
    until(lambda: len(batches.rows) >= RECORDS / 2, "all records", batches)
    assert batches.query is not None
    batches.query.stop()
    assert sorted(batches.rows) == list(range(0, RECORDS, 2))
    assert not [plan for plan in batches.plans if "MicroBatchScan" in plan]
