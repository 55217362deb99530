"""What a change of a stateful query costs, by the bytes of its state: clean stop, state repartition, new start.

Two of Nexmark's queries have 20,000 keys. Two others count records by a key of a given length, for as many keys as make
the state as large as it should be. Before the first change a query has run a few batches, as under a controller, which
has nothing to decide on earlier. The last row is the line through all changes but the first, in which the JVM loads
what it needs: `performance/state_price.py` has it.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
import pandas as pd
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.readwriter import DataStreamWriter

from penstock.control.clock import Stopwatch
from penstock.model import Plan
from penstock.papers.autrascale.spark.bids import SCHEMA, Bids, write
from penstock.papers.autrascale.spark.nexmark import QUERIES
from penstock.spark.measure.state_progress import StateProgress, read_state
from penstock.spark.native.engine import STATE, NativeEngine
from penstock.spark.native.query import NativeQuery
from penstock.testbed.session import local_session

CHANGES = (4, 2, 6, 3)
FIRST = 2
BATCHES_BEFORE = 5
SLOTS = 4
FILES = {
    # Six of Query 5's windows are open at any time.
    "nexmark_q5": Bids(rate=100_000, auctions=3_400, late_share=0.0),
    "nexmark_q11": Bids(rate=100_000, bidders=20_000, active=20_000, late_share=0.0),
}
KEY_BYTES = (100, 1_000)
STATES = (10_000_000, 100_000_000, 1_000_000_000)
LARGE, CHANGES_OF_LARGE = 500_000_000, (4, 2)
FILE_BYTES = 50_000_000
"""A batch that fills the state has so many bytes of keys."""
SHORT_KEYS_UP_TO = 100_000_000
"""Ten million keys of 100 bytes take longer than a benchmark should."""


@dataclass(frozen=True)
class Row:
    """What one change cost.

    state_mb  the state on disk, or in memory where it was not written yet
    batch_s   a batch of as few records before the change, in the median
    """

    query: str
    keys: int
    state_mb: float
    change: str
    stop_s: float
    repartition_s: float
    start_s: float
    first_batch_s: float
    all_s: float
    batch_s: float


@dataclass(frozen=True)
class Line:
    """`error` is by how much a change differs from the line, as a share of it, in the median."""

    fixed_s: float
    seconds_per_gb: float
    error: float
    changes: int


@dataclass(frozen=True)
class Feed:
    """A query and how it is fed: all that fills its state, and a few records for one more batch."""

    name: str
    query: Callable[[DataFrame], DataFrame]
    schema: str
    fill: Callable[[Path], None]
    few: Callable[[Path, int], None]
    mode: str = "append"
    changes: tuple[int, ...] = CHANGES


def rows() -> Iterator[Row | Line]:
    spark = local_session(f"local[{SLOTS}]")
    found = []
    try:
        for feed in (*map(nexmark, FILES), *sizes(spark)):
            with tempfile.TemporaryDirectory() as folder:
                for row in changes(spark, feed, Path(folder)):
                    found.append(row)
                    yield row
    finally:
        spark.stop()
    yield line(found[1:])


def nexmark(name: str) -> Feed:
    bids = FILES[name]
    return Feed(
        name,
        QUERIES[name],
        SCHEMA,
        fill=lambda source: write(bids.file(0), source, 0),
        few=lambda source, number: write(bids.file(0).head(100), source, number),
    )


def sizes(spark: SparkSession) -> Iterator[Feed]:
    for key_bytes in KEY_BYTES:
        for state in STATES:
            if key_bytes == max(KEY_BYTES) or state <= SHORT_KEYS_UP_TO:
                yield counts(spark, key_bytes, state)


def counts(spark: SparkSession, key_bytes: int, state: int) -> Feed:
    """Counts records by keys of random letters, which no compression makes smaller."""

    known = pd.DataFrame()

    def fill(source: Path) -> None:
        nonlocal known
        keys = spark.range(state // key_bytes).repartition(max(1, state // FILE_BYTES))
        keys.selectExpr(f"randstr({key_bytes}, 7) AS key").write.mode("append").parquet(str(source))
        known = spark.read.parquet(str(source)).limit(100).toPandas()

    def few(source: Path, number: int) -> None:
        unseen = source / f".few-{number:06}.parquet"
        known.to_parquet(unseen, index=False)
        unseen.rename(source / unseen.name[1:])

    return Feed(
        f"keys of {key_bytes} bytes",
        lambda stream: stream.groupBy("key").count(),
        "key STRING",
        fill,
        few,
        mode="update",
        changes=CHANGES if state < LARGE else CHANGES_OF_LARGE,
    )


def changes(spark: SparkSession, feed: Feed, folder: Path) -> Iterator[Row]:
    source = folder / "source"
    source.mkdir()

    def build(spark: SparkSession, plan: Plan) -> DataStreamWriter:
        stream = spark.readStream.schema(feed.schema).option("maxFilesPerTrigger", 1).parquet(str(source))
        return feed.query(stream).writeStream.outputMode(feed.mode).foreachBatch(count)

    native = NativeEngine(spark, build, NativeQuery("state", build).topology(), str(folder / "checkpoint"))
    feed.fill(source)
    native.start(Plan({STATE: FIRST}))
    native.query.processAllAvailable()
    for number in range(1, BATCHES_BEFORE):
        feed.few(source, number)
    native.query.processAllAvailable()
    for number, partitions in enumerate(feed.changes, BATCHES_BEFORE):
        keys, state, batch = state_rows(native), newest_state(native), usual_batch(native)
        native.apply(Plan({STATE: partitions}))
        feed.few(source, number)  # something for the first batch to do
        watch = Stopwatch()
        while state_rows(native) == 0:
            time.sleep(0.005)
        first_batch = watch.lap_ms() / 1e3
        cost = native.changes[-1]
        yield Row(
            feed.name, keys, (state.bytes or state.memory_bytes) / 1e6, f"{cost.before} to {cost.after}",
            cost.stop_seconds, cost.repartition_seconds, cost.start_seconds, first_batch, cost.seconds + first_batch,
            batch,
        )  # fmt: skip
        feed.few(source, number + len(feed.changes))  # a batch like any other, for `usual_batch`
        native.query.processAllAvailable()
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


def newest_state(native: NativeEngine) -> StateProgress:
    state = read_state(native.query.recentProgress[-1]["stateOperators"])
    assert state is not None
    return state


def usual_batch(native: NativeEngine) -> float:
    """Seconds of the batches since the last start without the first of them, in the median."""
    later = [float(each["durationMs"]["triggerExecution"]) for each in native.query.recentProgress[1:]]
    return median(later) / 1e3


def line(changes: Sequence[Row]) -> Line:
    """The line with the smallest squares of its errors, each as a share of what it says itself."""
    gigabytes, took = (np.array(each) for each in ([row.state_mb / 1e3 for row in changes], [r.all_s for r in changes]))
    said = took
    for _ in range(20):  # the share is of what the line says, which the line before this one is near to
        both = np.stack([np.ones_like(gigabytes), gigabytes], axis=1) / said[:, None]
        (fixed, slope), *_ = np.linalg.lstsq(both, took / said, rcond=None)
        said = np.maximum(fixed + slope * gigabytes, 0.1)
    error = float(np.median(np.abs(took - said) / said))
    return Line(float(fixed), float(slope), error, len(changes))
