"""The micro-batch engine against the query that a Spark engineer would write, and metering on against off.

That query has the same four operators one behind the other, with no repartition and no `foreachBatch`: a plain
`writeStream`. The ways take turns of some seconds each, in another order in each round, on one session: they share its
JVM and whatever else the machine does meanwhile. Each goes on from its checkpoint. A turn's figure is its median batch;
told are the mean over turns of the ratios within a round and their standard error.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import mean, median, stdev
from typing import ClassVar

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.streaming.query import StreamingQuery

from penstock.control.assembly import Steering
from penstock.load.curves import constant
from penstock.model import Plan
from penstock.spark.dry_run import dry_run
from penstock.spark.io.replayed import Replay, replay
from penstock.spark.measure.progress import ProgressReader
from penstock.spark.microbatch.engine import MicroBatchEngine
from penstock.spark.pipeline import Pipeline
from penstock.testbed.session import local_session

RECORDS_PER_BATCH = 200_000
ROUNDS = 6
SKIPPED_ROUNDS = 1
"""The JVM gets warm."""
BATCHES = 36
"""Of a turn."""
SKIPPED_BATCHES = 6
"""The first of a turn, in which a query begins anew."""
READ_SECONDS = Steering().interval_seconds
WAYS = ("plain query", "engine", "engine, not metered")
MORE_THAN_ENOUGH = 20_000


@dataclass(frozen=True)
class Throughput:
    way: str
    records_per_second: float
    against_plain_query: float
    standard_error: float
    lowest: float
    highest: float


@dataclass(frozen=True)
class Metering:
    throughput_on_against_off: float
    standard_error: float


class Nowhere:
    """Takes every record and keeps none."""

    reads_again: ClassVar[bool] = False

    def write(self, frame: DataFrame, batch: int) -> None:
        frame.write.format("noop").mode("overwrite").save()


def parse(frame: DataFrame) -> DataFrame:
    return frame.withColumn("text", F.col("value").cast("string"))


def hashed(frame: DataFrame) -> DataFrame:
    return frame.where(F.length("value") > 0).withColumn("hash", F.sha2("text", 256))


def scored(frame: DataFrame) -> DataFrame:
    return frame.withColumn("score", F.crc32("hash") % 1000)


def selected(frame: DataFrame) -> DataFrame:
    return frame.select("text", "score", "timestamp")


OPERATORS = {"parse": parse, "hashed": hashed, "scored": scored, "selected": selected}
PLAN = Plan(dict.fromkeys(OPERATORS, 2))


class PlainQuery:
    """The query without Penstock."""

    def __init__(self, spark: SparkSession, checkpoint: str) -> None:
        self._spark = spark
        self._checkpoint = checkpoint

    def start(self) -> StreamingQuery:
        frame = _source().stream(self._spark)
        for function in OPERATORS.values():
            frame = function(frame)
        self._query = (
            frame.writeStream.format("noop").option("checkpointLocation", self._checkpoint)
            .trigger(processingTime="0 seconds").start()
        )  # fmt: skip
        return self._query

    def read(self) -> None: ...

    def stop(self) -> None:
        while self._query.status["isTriggerActive"] and self._query.isActive:
            time.sleep(0.005)
        self._query.stop()


class Engine:
    """The same under Penstock: one engine through all turns."""

    def __init__(self, spark: SparkSession, checkpoint: str, metering: bool) -> None:
        job = Pipeline("bench", source=_source())
        before: tuple[str, ...] = ()
        for name, function in OPERATORS.items():
            job.operator(name, function, after=before)
            before = (name,)
        job.sink(Nowhere(), after=before[0])
        self._engine = MicroBatchEngine(
            spark, job, dry_run(spark, job), checkpoint, batch_seconds=0.0, metering=metering
        )  # fmt: skip

    def start(self) -> StreamingQuery:
        self._engine.start(PLAN)
        assert self._engine._query is not None
        return self._engine._query

    def read(self) -> None:
        self._engine.read()

    def stop(self) -> None:
        self._engine.stop()


def rows() -> Iterator[Throughput | Metering]:
    spark = local_session("local[2]")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        seconds = _run(spark, Path(folder))
    spark.stop()
    for way in WAYS:
        ratios = _ratios(seconds[WAYS[0]], seconds[way])
        yield Throughput(
            way, round(RECORDS_PER_BATCH / median(seconds[way])), *_mean(ratios), min(ratios), max(ratios)
        )  # fmt: skip
    yield Metering(*_mean(_ratios(seconds["engine, not metered"], seconds["engine"])))


def _ratios(theirs: list[float], ours: list[float]) -> list[float]:
    """Of throughput, in each round."""
    return [round(a / b, 4) for a, b in zip(theirs, ours, strict=True)]


def _mean(ratios: list[float]) -> tuple[float, float]:
    """With its standard error."""
    return round(mean(ratios), 4), round(stdev(ratios) / len(ratios) ** 0.5, 4)


def _run(spark: SparkSession, folder: Path) -> dict[str, list[float]]:
    """The seconds from one batch to the next, in each way's turn of each round."""
    checkpoints = [str(folder / str(place)) for place in range(len(WAYS))]
    ways: tuple[PlainQuery | Engine, ...] = (
        PlainQuery(spark, checkpoints[0]),
        Engine(spark, checkpoints[1], metering=True),
        Engine(spark, checkpoints[2], metering=False),
    )
    jobs = dict(zip(WAYS, ways, strict=True))
    seconds: dict[str, list[float]] = {way: [] for way in WAYS}
    for turn in range(SKIPPED_ROUNDS + ROUNDS):
        for place in range(len(WAYS)):
            way = WAYS[(place * (1 + turn % 2) + turn) % len(WAYS)]  # nobody has always the same one before it
            took = _turn(jobs[way])
            if turn >= SKIPPED_ROUNDS:
                seconds[way].append(took)
    return seconds


def _turn(job: PlainQuery | Engine) -> float:
    progress, starts = ProgressReader(job.start()), list[float]()
    read_at = time.monotonic() + READ_SECONDS
    while len(starts) < BATCHES:
        time.sleep(0.25)
        starts += [batch.start for batch in progress.new() if batch.records]
        if time.monotonic() >= read_at:
            job.read()
            read_at += READ_SECONDS
    job.stop()
    return median(b - a for a, b in pairwise(starts[SKIPPED_BATCHES:]))


def _source() -> Replay:
    everything = constant(1e12, MORE_THAN_ENOUGH * RECORDS_PER_BATCH / 1e12)  # all of it is there at once
    return replay(everything, max_records_per_batch=RECORDS_PER_BATCH)
