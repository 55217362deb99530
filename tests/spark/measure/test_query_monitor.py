"""A query measured from outside. Files make the batches: each is there when the test says so."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ClassVar

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSourceStreamReader
from pyspark.sql.streaming.datasource import ReadLimit
from pyspark.sql.streaming.query import StreamingQuery

from patience import wait_for
from penstock.control.clock import WallClock
from penstock.model import PenstockError
from penstock.spark.executors.state_holders import state_holders
from penstock.spark.io.replayed import Replay, ReplayReader
from penstock.spark.measure.query_monitor import JOB, QueryMonitor
from penstock.spark.measure.stages import Stage, StageReader

pytestmark = pytest.mark.spark

Feed = Callable[[int], None]


@pytest.fixture
def feed(tmp_path: Path) -> Feed:
    """Adds a file of that many records."""
    (tmp_path / "in").mkdir()

    def add(count: int) -> None:
        number = len(list((tmp_path / "in").iterdir()))
        (tmp_path / "in" / f"{number}.txt").write_text("".join(f"{i}\n" for i in range(count)), encoding="utf-8")

    return add


@pytest.fixture
def query(spark: SparkSession, tmp_path: Path, feed: Feed) -> Iterator[StreamingQuery]:
    words = spark.readStream.format("text").option("maxFilesPerTrigger", 1).load(str(tmp_path / "in"))
    started = (
        words.groupBy("value").count().writeStream.format("noop").outputMode("update")
        .option("checkpointLocation", str(tmp_path / "checkpoint")).start()
    )  # fmt: skip
    feed(5)
    started.processAllAvailable()
    yield started
    started.stop()


class Forgetful(StageReader):
    """Of a Spark that has forgotten the stages of some batches."""

    forgotten: ClassVar[tuple[int, ...]] = ()

    def of_batches(self, run: str, first: int, last: int) -> dict[int, list[Stage]]:
        found = super().of_batches(run, first, last)
        return {number: stages for number, stages in found.items() if number not in self.forgotten}


def watch(
    spark: SparkSession, query: StreamingQuery, settled_at: float = 0.0, reader: type[StageReader] = StageReader
) -> QueryMonitor:
    stages = reader(spark.sparkContext)
    monitor = QueryMonitor(query, stages, WallClock(), lambda: 8, lambda: 2, settled_at=lambda: settled_at)
    assert all(sample.warm_up for sample in monitor.read())  # what happened before somebody looked
    return monitor


def test_what_ran_before_the_first_look_shows_what_batches_cost_and_is_warm_up(
    spark: SparkSession, query: StreamingQuery, feed: Feed
) -> None:
    feed(30)
    feed(12)
    query.processAllAvailable()
    monitor = QueryMonitor(query, StageReader(spark.sparkContext), WallClock(), lambda: 8, lambda: 2)
    [sample] = monitor.read()
    assert [batch.records for batch in sample.batches or ()] == [30, 12]  # without the first batch of the query
    assert sample.warm_up
    assert (sample.input_rate, sample.processing_latency_ms, sample.event_latency_ms) == (None, None, None)


def test_a_window_holds_the_batches_since_the_last_look(spark: SparkSession, query: StreamingQuery, feed: Feed) -> None:
    monitor = watch(spark, query)
    feed(30)
    feed(12)
    query.processAllAvailable()
    [sample] = monitor.read()
    job = sample.operators[JOB]
    assert (job.records_in, job.parallelism, sample.executors) == (42, 8, 2)
    assert sample.throughput == pytest.approx(42 / sample.seconds)
    assert [batch.records for batch in sample.batches or ()] == [30, 12]
    assert job.useful_seconds == pytest.approx(sum(batch.useful_seconds for batch in sample.batches or ()))
    assert all(0 < batch.stage_seconds <= batch.seconds for batch in sample.batches or ())
    assert job.waiting_seconds is None
    assert job.state_bytes is not None
    assert job.state_memory_bytes, "it keeps the counts in RocksDB"
    assert sample.processing_latency_ms is not None
    assert monitor.most_tasks == 4  # the shuffle's partitions
    assert not sample.warm_up


def test_a_source_that_does_not_report_its_lag_is_named_and_nothing_is_made_up(
    spark: SparkSession, query: StreamingQuery, feed: Feed
) -> None:
    monitor = watch(spark, query)
    feed(30)
    query.processAllAvailable()
    [sample] = monitor.read()
    assert (sample.backlog, sample.event_latency_ms) == (None, None)
    assert sample.offered_rate > 0
    [source] = monitor.sources_without_lag
    assert source.startswith("FileStreamSource")


def test_batches_whose_stages_spark_has_forgotten_cost_as_much_for_a_record_as_the_others(
    spark: SparkSession, query: StreamingQuery, feed: Feed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monitor = watch(spark, query, reader=Forgetful)
    feed(30)
    feed(10)
    query.processAllAvailable()
    monkeypatch.setattr(Forgetful, "forgotten", (query.lastProgress["batchId"] - 1,))  # type: ignore[index]
    [sample] = monitor.read()
    [known] = sample.batches or ()
    assert known.records == 10
    assert sample.operators[JOB].useful_seconds == pytest.approx(4 * known.useful_seconds)
    feed(20)
    query.processAllAvailable()
    monkeypatch.setattr(Forgetful, "forgotten", range(1_000))
    [sample] = monitor.read()
    assert (sample.operators[JOB].useful_seconds, sample.batches, sample.operators[JOB].records_in) == (None, (), 20)


def test_a_query_that_waits_for_data_was_offered_nothing(spark: SparkSession, query: StreamingQuery) -> None:
    monitor = watch(spark, query)
    [idle] = monitor.read()
    [later] = monitor.read()
    assert (idle.input_rate, idle.throughput, idle.operators[JOB].useful_seconds) == (0, 0, 0)
    assert later.t == pytest.approx(idle.end)


def test_a_query_that_still_looks_for_its_first_records_is_not_idle(spark: SparkSession, tmp_path: Path) -> None:
    """After a change it starts with what has come meanwhile: to take that for nothing would be the smallest plan."""
    closed = tmp_path / "closed"
    closed.touch()

    class SlowReader(ReplayReader):  # here, so that it is sent by value
        def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:
            while closed.exists():
                time.sleep(0.01)
            return super().latestOffset(start, limit)

    class Slow(Replay):
        def reader(self) -> DataSourceStreamReader:
            return SlowReader(self)

    records = Slow((0.0, 3_600.0), (100.0, 100.0)).stream(spark)
    query = records.writeStream.format("noop").option("checkpointLocation", str(tmp_path / "checkpoint")).start()
    monitor = QueryMonitor(query, StageReader(spark.sparkContext), WallClock(), lambda: 8, lambda: 2)
    wait_for(lambda: query.status["message"].startswith("Getting offsets"), "a query that starts")
    starting = monitor.read()
    closed.unlink()
    wait_for(lambda: any(sample.throughput for sample in monitor.read()), "records")
    query.stop()
    assert starting == []


def test_a_window_that_began_before_a_change_had_settled_is_marked(spark: SparkSession, query: StreamingQuery) -> None:
    [sample] = watch(spark, query, settled_at=WallClock().now() + 60).read()
    assert sample.warm_up


def test_a_query_that_has_ended_is_not_measured(spark: SparkSession, query: StreamingQuery) -> None:
    monitor = watch(spark, query)
    query.stop()
    with pytest.raises(PenstockError, match="the query has ended"):
        monitor.read()


def test_who_holds_state_is_known(spark: SparkSession, query: StreamingQuery, tmp_path: Path) -> None:
    assert state_holders(spark.sparkContext, query) == {"driver"}
    stateless = (
        spark.readStream.format("text").load(str(tmp_path / "in")).writeStream.format("noop")
        .option("checkpointLocation", str(tmp_path / "other")).start()
    )  # fmt: skip
    stateless.processAllAvailable()
    assert state_holders(spark.sparkContext, stateless) == set()
    stateless.stop()


class Ahead(WallClock):
    """A clock that is ahead by as much as it is set."""

    ahead = 0.0

    def now(self) -> float:
        return super().now() + self.ahead


def test_a_batch_that_had_begun_when_nothing_seemed_to_come_is_no_surge(
    spark: SparkSession, query: StreamingQuery, feed: Feed
) -> None:
    clock = Ahead()
    monitor = QueryMonitor(query, StageReader(spark.sparkContext), clock, lambda: 8, lambda: 2)
    monitor.read()
    clock.ahead = 3600.0
    monitor.read()  # nothing comes, and the next batch begins before this moment
    clock.ahead = 0.0
    feed(30)
    query.processAllAvailable()
    [sample] = monitor.read()
    assert sample.offered_rate < 30 / 0.01
