"""The micro-batch engine against the query that a Spark engineer would write, and metering on against off.

That query has the same four operators one behind the other, with no repartition and no `foreachBatch`: a plain
`writeStream`. The second way is the same in a `foreachBatch` by hand, which shows what that costs by itself. The ways
take turns of some batches each, in another order in each round, on one session: they share its JVM and whatever else
the machine does meanwhile. Each goes on from its checkpoint. A batch has as many records as keep two cores busy for
about a second, the engine's default from one batch to the next. A turn's figure is the mean of its batches, those that
are measured among them; told are the mean of the ratios within a round, their standard error, median and range. The CPU
time of a record is that of the stages: there is planning besides, and whatever else happens between two batches.
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
from penstock.spark.measure.progress import BatchProgress, ProgressReader
from penstock.spark.measure.stages import StageReader
from penstock.spark.microbatch.engine import MicroBatchEngine
from penstock.spark.pipeline import Pipeline
from penstock.testbed.session import local_session

RECORDS_PER_BATCH = 2_000_000
ROUNDS = 12
"""Many short ones: the speed of a machine that others use as well changes by a third within minutes."""
SKIPPED_ROUNDS = 1
"""The JVM gets warm."""
BATCHES = 8
"""Of a turn."""
SKIPPED_BATCHES = 2
"""The first of a turn, in which a query begins anew."""
READ_SECONDS = Steering().interval_seconds
WAYS = ("plain query", "foreachBatch by hand", "engine", "engine, not metered")
MORE_THAN_ENOUGH = 20_000


@dataclass(frozen=True)
class Throughput:
    """Ratios of throughput, and CPU microseconds of a record."""

    way: str
    records_per_second: float
    cpu_us: float
    against_plain_query: float
    standard_error: float
    median: float
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


def all_of_them(frame: DataFrame) -> DataFrame:
    for function in OPERATORS.values():
        frame = function(frame)
    return frame


class ByHand:
    """The query without Penstock: plain, or in a `foreachBatch`."""

    def __init__(self, spark: SparkSession, checkpoint: str, in_batches: bool) -> None:
        self._spark = spark
        self._checkpoint = checkpoint
        self._in_batches = in_batches

    def start(self) -> StreamingQuery:
        source = _source().stream(self._spark)
        writer = all_of_them(source).writeStream.format("noop")
        if self._in_batches:
            writer = source.writeStream.foreachBatch(lambda frame, number: Nowhere().write(all_of_them(frame), number))
        self._query = writer.option("checkpointLocation", self._checkpoint).trigger(processingTime="0 seconds").start()
        return self._query

    def read(self) -> None: ...

    def stop(self) -> None:
        self._query.stop()  # the batch that it interrupts is the first of the next turn


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
        turns = _run(spark, Path(folder))
    spark.stop()
    seconds = {way: [turn.seconds for turn in some] for way, some in turns.items()}
    for way in WAYS:
        ratios = _ratios(seconds[WAYS[0]], seconds[way])
        cpu_us = round(1e6 * median(turn.cpu_seconds for turn in turns[way]) / RECORDS_PER_BATCH, 3)
        throughput = round(RECORDS_PER_BATCH / median(seconds[way]))
        yield Throughput(way, throughput, cpu_us, *_mean(ratios), round(median(ratios), 4), min(ratios), max(ratios))
    yield Metering(*_mean(_ratios(seconds["engine, not metered"], seconds["engine"])))


def _ratios(theirs: list[float], ours: list[float]) -> list[float]:
    """Of throughput, in each round."""
    return [round(a / b, 4) for a, b in zip(theirs, ours, strict=True)]


def _mean(ratios: list[float]) -> tuple[float, float]:
    """With its standard error."""
    return round(mean(ratios), 4), round(stdev(ratios) / len(ratios) ** 0.5, 4)


@dataclass(frozen=True)
class Turn:
    """The mean of the batches of a turn: seconds to the next one, and CPU seconds of their stages."""

    seconds: float
    cpu_seconds: float


def _run(spark: SparkSession, folder: Path) -> dict[str, list[Turn]]:
    """The turns of each way."""
    checkpoints = [str(folder / str(place)) for place in range(len(WAYS))]
    ways: tuple[ByHand | Engine, ...] = (
        ByHand(spark, checkpoints[0], in_batches=False),
        ByHand(spark, checkpoints[1], in_batches=True),
        Engine(spark, checkpoints[2], metering=True),
        Engine(spark, checkpoints[3], metering=False),
    )
    jobs = dict(zip(WAYS, ways, strict=True))
    turns: dict[str, list[Turn]] = {way: [] for way in WAYS}
    stages = StageReader(spark.sparkContext)
    for number in range(SKIPPED_ROUNDS + ROUNDS):
        for place in range(len(WAYS)):
            way = WAYS[(place * (1 + 2 * (number % 2)) + number) % len(WAYS)]  # nobody always follows the same one
            took = _turn(jobs[way], stages)
            if number >= SKIPPED_ROUNDS:
                turns[way].append(took)
    return turns


def _turn(job: ByHand | Engine, stages: StageReader) -> Turn:
    progress, batches = ProgressReader(job.start()), list[BatchProgress]()
    read_at = time.monotonic() + READ_SECONDS
    while len(batches) < BATCHES:
        time.sleep(0.25)
        batches += [batch for batch in progress.new() if batch.records]
        if time.monotonic() >= read_at:
            job.read()
            read_at += READ_SECONDS
    job.stop()
    counted = batches[SKIPPED_BATCHES:]
    found = stages.of_batches(counted[0].run, counted[0].number, counted[-1].number).values()
    return Turn(
        mean(b.start - a.start for a, b in pairwise(counted)),
        mean(sum(stage.cpu_seconds for stage in of_batch) for of_batch in found),
    )


def _source() -> Replay:
    everything = constant(1e12, MORE_THAN_ENOUGH * RECORDS_PER_BATCH / 1e12)  # all of it is there at once
    return replay(everything, max_records_per_batch=RECORDS_PER_BATCH)
