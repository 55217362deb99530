"""The micro-batch engine against the same job written by hand, and metering on against off.

The job by hand has the same operators behind the same repartitions, in a `foreachBatch` of its own. All ways read the
same replayed records in batches of the same size, and take turns; the seconds of a round are those of its batches
after the first ones, and medians of rounds are compared.
"""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from typing import ClassVar

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from penstock.model import Plan
from penstock.spark.dry_run import dry_run
from penstock.spark.ends.replayed import Replay, replay
from penstock.spark.job import CLUSTER_INTERVAL_SECONDS
from penstock.spark.microbatch.engine import SETTINGS, MicroBatchEngine
from penstock.spark.pipeline import Pipeline
from penstock.spark.session import local_session
from penstock.workloads.rates import constant

RECORDS_PER_BATCH = 200_000
BATCHES, SKIPPED = 23, 3
ROUNDS = 3
WAYS = ("by hand", "engine", "engine, not metered")
READ_SECONDS = CLUSTER_INTERVAL_SECONDS
"""How often the monitor is read while the engine runs, as the loop does."""


@dataclass(frozen=True)
class Throughput:
    way: str
    records_per_second: float
    against_by_hand: float
    worst_round: float
    best_round: float


class Nowhere:
    """Takes every record and keeps none. Notes when each batch has ended."""

    reads_again: ClassVar[bool] = False

    def __init__(self) -> None:
        self.ends: list[float] = []
        self.enough = threading.Event()

    def write(self, frame: DataFrame, batch: int) -> None:
        frame.write.format("noop").mode("overwrite").save()
        self.ends.append(time.perf_counter())
        if len(self.ends) >= BATCHES:
            self.enough.set()


def parse(frame: DataFrame) -> DataFrame:
    return frame.withColumn("text", F.col("value").cast("string"))


def hashed(frame: DataFrame) -> DataFrame:
    return frame.withColumn("hash", F.sha2("text", 256))


def scored(frame: DataFrame) -> DataFrame:
    return frame.withColumn("score", F.crc32("hash") % 1000)


def kept(frame: DataFrame) -> DataFrame:
    return frame.where("score >= 100").select("text", "score", "timestamp")


OPERATORS = {"parse": parse, "hashed": hashed, "scored": scored, "kept": kept}
PLAN = Plan(dict.fromkeys(OPERATORS, 2))


def rows() -> Iterator[Throughput]:
    spark = local_session("local[2]")
    rates: dict[str, list[float]] = {way: [] for way in WAYS}
    for way in WAYS:  # compiles everything
        _run(spark, way)
    for _ in range(ROUNDS):
        for way in WAYS:
            rates[way].append(_run(spark, way))
    spark.stop()
    by_hand = rates["by hand"]
    for way in WAYS:
        ratios = [ours / theirs for ours, theirs in zip(rates[way], by_hand, strict=True)]
        yield Throughput(
            way, round(median(rates[way])), round(median(ratios), 3), round(min(ratios), 3), round(max(ratios), 3)
        )


def _source() -> Replay:
    everything = constant(1e12, (BATCHES + 5) * RECORDS_PER_BATCH / 1e12)  # all of it is there at once
    return replay(everything, max_records_per_batch=RECORDS_PER_BATCH)


def _run(spark: SparkSession, way: str) -> float:
    sink = Nowhere()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        (_by_hand if way == "by hand" else _by_engine)(spark, sink, folder, way)
    ends = sink.ends[SKIPPED - 1 : BATCHES]
    return RECORDS_PER_BATCH * (len(ends) - 1) / (ends[-1] - ends[0])


def _by_hand(spark: SparkSession, sink: Nowhere, folder: str, way: str) -> None:
    def batch(frame: DataFrame, number: int) -> None:
        for key, value in SETTINGS.items():
            frame.sparkSession.conf.set(key, value)
        for name, function in OPERATORS.items():
            frame = function(frame.repartition(PLAN[name]))
        sink.write(frame, number)

    query = (
        _source().stream(spark).writeStream.foreachBatch(batch)
        .option("checkpointLocation", folder).trigger(processingTime="0 seconds").start()
    )  # fmt: skip
    sink.enough.wait()
    while query.status["isTriggerActive"]:
        time.sleep(0.02)
    query.stop()


def _by_engine(spark: SparkSession, sink: Nowhere, folder: str, way: str) -> None:
    job = Pipeline("bench", source=_source())
    before: tuple[str, ...] = ()
    for name, function in OPERATORS.items():
        job.operator(name, function, after=before)
        before = (name,)
    job.sink(sink, after="kept")
    metering = way == "engine"
    engine = MicroBatchEngine(spark, job, dry_run(spark, job), PLAN, folder, batch_seconds=0.0, metering=metering)
    engine.start()
    while not sink.enough.wait(READ_SECONDS):
        engine.read()
    engine.stop()
