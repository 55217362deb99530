"""What a change of a stateful query costs: clean stop, state repartition, new start, with 20,000 keys in its state.

Before the first change the query has run a few batches, as under a controller, which has nothing to decide on earlier.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.readwriter import DataStreamWriter

from penstock.control.clock import Stopwatch
from penstock.model import Plan
from penstock.papers.autrascale.spark.bids import SCHEMA, Bids, write
from penstock.papers.autrascale.spark.nexmark import QUERIES
from penstock.spark.native.engine import STATE, NativeEngine
from penstock.spark.native.query import NativeQuery
from penstock.testbed.session import local_session

CHANGES = (4, 2, 6, 3, 4, 2, 6, 3)
FIRST = 2
BATCHES_BEFORE = 5
SLOTS = 4
FILES = {
    # Six of Query 5's windows are open at any time.
    "nexmark_q5": Bids(rate=100_000, auctions=3_400, late_share=0.0),
    "nexmark_q11": Bids(rate=100_000, bidders=20_000, active=20_000, late_share=0.0),
}


@dataclass(frozen=True)
class Row:
    query: str
    keys: int
    change: str
    stop_s: float
    repartition_s: float
    start_s: float
    first_batch_s: float
    all_s: float


def rows() -> Iterator[Row]:
    spark = local_session(f"local[{SLOTS}]")
    try:
        for query, bids in FILES.items():
            with tempfile.TemporaryDirectory() as folder:
                yield from changes(spark, query, bids, Path(folder))
    finally:
        spark.stop()


def changes(spark: SparkSession, query: str, bids: Bids, folder: Path) -> Iterator[Row]:
    source = folder / "bids"
    source.mkdir()

    def build(spark: SparkSession, plan: Plan) -> DataStreamWriter:
        stream = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).parquet(str(source))
        return QUERIES[query](stream).writeStream.foreachBatch(count)

    native = NativeEngine(spark, build, NativeQuery(query, build).topology(), str(folder / "checkpoint"))
    write(bids.file(0), source, 0)
    native.start(Plan({STATE: FIRST}))
    for number in range(1, BATCHES_BEFORE):
        write(bids.file(0).head(100), source, number)
    native.query.processAllAvailable()
    for number, partitions in enumerate(CHANGES, BATCHES_BEFORE):
        keys = state_rows(native)
        native.apply(Plan({STATE: partitions}))
        write(bids.file(0).head(100), source, number)  # something for the first batch to do
        watch = Stopwatch()
        while state_rows(native) == 0:
            time.sleep(0.005)
        first_batch = watch.lap_ms() / 1e3
        cost = native.changes[-1]
        yield Row(
            query, keys, f"{cost.before} to {cost.after}", cost.stop_seconds, cost.repartition_seconds,
            cost.start_seconds, first_batch, cost.seconds + first_batch,
        )  # fmt: skip
    native.stop()


def count(rows: DataFrame, batch: int) -> None:
    rows.count()


def state_rows(native: NativeEngine) -> int:
    """Keys in the largest state of the query; 0 until it has run a batch."""
    counts = [
        operator["numRowsTotal"]
        for progress in native.query.recentProgress
        for operator in progress["stateOperators"]
    ]  # fmt: skip
    return max(counts, default=0)
