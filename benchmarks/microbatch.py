"""The micro-batch engine against the same job written by hand, and metering on against off.

The job by hand has the same operators behind the same repartitions, in a `foreachBatch` of its own. One query reads
replayed records in batches of one size, and the three ways take turns at them, batch by batch: so they share one JVM,
its caches and whatever else the machine does meanwhile. Ratios are those of the three batches of a round; their mean is
told, without the tenth at either end, and its standard error.
"""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import mean, median, stdev
from typing import ClassVar

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from penstock.control.assembly import Steering
from penstock.load.curves import constant
from penstock.model import Plan
from penstock.spark.dry_run import dry_run
from penstock.spark.io.replayed import Replay, replay
from penstock.spark.microbatch.engine import SETTINGS, MicroBatchEngine
from penstock.spark.pipeline import Pipeline
from penstock.testbed.session import local_session

RECORDS_PER_BATCH = 200_000
ROUNDS = 120
SKIPPED_ROUNDS = 20
"""The JVM gets warm."""
TRIMMED = 0.1
WAYS = ("by hand", "engine", "engine, not metered")
READ_SECONDS = len(WAYS) * Steering().interval_seconds
"""Of one batch in three the engine sees in this time as many as it sees between two readings in a job of its own."""


@dataclass(frozen=True)
class Throughput:
    way: str
    records_per_second: float
    against_by_hand: float
    standard_error: float


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
    # The filter reads what is there from the beginning: by hand the optimiser carries it to the source, and would do
    # there, a second time, whatever else it needed.
    return frame.where(F.length("value") > 0).withColumn("hash", F.sha2("text", 256))


def scored(frame: DataFrame) -> DataFrame:
    return frame.withColumn("score", F.crc32("hash") % 1000)


def selected(frame: DataFrame) -> DataFrame:
    return frame.select("text", "score", "timestamp")


OPERATORS = {"parse": parse, "hashed": hashed, "scored": scored, "selected": selected}
PLAN = Plan(dict.fromkeys(OPERATORS, 2))

Way = Callable[[DataFrame, int], None]


def by_hand(frame: DataFrame, number: int) -> None:
    for key, value in SETTINGS.items():
        frame.sparkSession.conf.set(key, value)
    for name, function in OPERATORS.items():
        frame = function(frame.repartition(PLAN[name]))
    Nowhere().write(frame, number)


class Turns:
    """The ways take turns, in another order in each round."""

    def __init__(self, ways: dict[str, Way]) -> None:
        self.seconds: dict[str, list[float]] = {name: [] for name in ways}
        self.over = threading.Event()
        self._ways = ways
        self._done = 0
        self._since = time.perf_counter()

    def batch(self, frame: DataFrame, number: int) -> None:
        if self.over.is_set():
            return
        rounds, turn = divmod(self._done, len(WAYS))
        way = WAYS[(turn * (1 + rounds % 2) + rounds) % len(WAYS)]  # nobody has always the same one before it
        self._ways[way](frame, number)
        now = time.perf_counter()
        self.seconds[way].append(now - self._since)
        self._since = now
        self._done += 1
        if rounds == SKIPPED_ROUNDS + ROUNDS:
            self.over.set()


def rows() -> Iterator[Throughput | Metering]:
    spark = local_session("local[2]")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        seconds = _run(spark, folder)
    spark.stop()
    for way in WAYS:
        yield Throughput(
            way, round(RECORDS_PER_BATCH / median(seconds[way])), *_ratio(seconds["by hand"], seconds[way])
        )
    yield Metering(*_ratio(seconds["engine, not metered"], seconds["engine"]))


def _ratio(theirs: list[float], ours: list[float]) -> tuple[float, float]:
    """Of throughput: the mean over rounds, and its standard error."""
    ratios = sorted(a / b for a, b in zip(theirs, ours, strict=True))
    cut = round(TRIMMED * len(ratios))
    ratios = ratios[cut : len(ratios) - cut]
    return round(mean(ratios), 4), round(stdev(ratios) / len(ratios) ** 0.5, 4)


def _run(spark: SparkSession, folder: str) -> dict[str, list[float]]:
    """Seconds of each way's batches, without the first ones."""
    engine, unmetered = _engine(spark, folder, metering=True), _engine(spark, folder, metering=False)
    turns = Turns(dict(zip(WAYS, (by_hand, engine._on_batch, unmetered._on_batch), strict=True)))
    query = (
        _source().stream(spark).writeStream.foreachBatch(turns.batch)
        .option("checkpointLocation", folder).trigger(processingTime="0 seconds").start()
    )  # fmt: skip
    for each in (engine, unmetered):
        each._plan = PLAN
    engine._monitor.begin(query, time.time())  # of all batches it reads those that it ran itself
    while not turns.over.wait(READ_SECONDS):
        engine.read()
    while query.status["isTriggerActive"]:
        time.sleep(0.02)
    query.stop()
    return {way: seconds[SKIPPED_ROUNDS:][:ROUNDS] for way, seconds in turns.seconds.items()}


def _source() -> Replay:
    batches = (1 + SKIPPED_ROUNDS + ROUNDS) * len(WAYS) + 5
    everything = constant(1e12, batches * RECORDS_PER_BATCH / 1e12)  # all of it is there at once
    return replay(everything, max_records_per_batch=RECORDS_PER_BATCH)


def _engine(spark: SparkSession, folder: str, metering: bool) -> MicroBatchEngine:
    job = Pipeline("bench", source=_source())
    before: tuple[str, ...] = ()
    for name, function in OPERATORS.items():
        job.operator(name, function, after=before)
        before = (name,)
    job.sink(Nowhere(), after=before[0])
    return MicroBatchEngine(spark, job, dry_run(spark, job), folder, batch_seconds=0.0, metering=metering)
