"""The micro-batch engine against the query that a Spark engineer would write, and metering on against off.

That query has the same four operators one behind the other, with no repartition and no `foreachBatch`: a plain
`writeStream`. The second way is the same in a `foreachBatch` by hand, which shows what that costs by itself. All ways
run in one session and take turns batch by batch, in another order in each round: what else the machine does, and how
warm the JVM is, is nearly the same for neighbours. A batch has as many records as keep two cores busy for about a
second, the engine's default from one batch to the next. Its time is Spark's own, from the trigger to the commit,
without the wait for its turn. Told are the ratio of the seconds of all batches with its standard error, and the
median of the ratios within a round. The engine is read as often for its batches as the loop does it, and its clock has
only its share of the seconds: it measures as many of its batches as it would alone. The CPU time of a record is that of
the stages: there is planning besides, and whatever else happens between two batches.

Jobs run for days, so the JVM is warm before anything is counted: all ways first take their turns with small batches,
until the code that analyses and plans a batch, which runs once for each, is compiled too. The four operators of a batch
take 24 ms to build in the first hundred batches of a process, 8 to 10 ms after a few hundred.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median, stdev
from typing import ClassVar

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.datasource import DataSourceStreamReader
from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxRows
from pyspark.sql.streaming.query import StreamingQuery

from penstock.control.assembly import Steering
from penstock.load.curves import constant
from penstock.model import Plan
from penstock.spark.dry_run import dry_run
from penstock.spark.io.replayed import Replay, ReplayReader
from penstock.spark.measure.stages import StageReader
from penstock.spark.microbatch.engine import MicroBatchEngine
from penstock.spark.pipeline import Pipeline
from penstock.testbed.session import local_session

RECORDS_PER_BATCH = 2_000_000
ROUNDS = 70
WARM_UP_ROUNDS = 300
WARM_UP_RECORDS = 2_000
SKIPPED_ROUNDS = 10
"""Rounds of full batches that are not counted: the code that runs for each record gets warm."""
WAYS = ("plain query", "foreachBatch by hand", "engine", "engine, not metered")
READ_SECONDS = len(WAYS) * Steering().interval_seconds
LOOK_SECONDS = 0.005
MORE_THAN_ENOUGH = 20_000
OVER = -1


@dataclass(frozen=True)
class Throughput:
    """Ratios of throughput, and CPU microseconds of a record."""

    way: str
    records_per_second: float
    cpu_us: float
    against_plain_query: float
    standard_error: float
    median: float


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

    def __init__(self, spark: SparkSession, source: Replay, checkpoint: str, in_batches: bool) -> None:
        self._spark = spark
        self._source = source
        self._checkpoint = checkpoint
        self._in_batches = in_batches

    def start(self) -> StreamingQuery:
        source = self._source.stream(self._spark)
        writer = all_of_them(source).writeStream.format("noop")
        if self._in_batches:
            writer = source.writeStream.foreachBatch(lambda frame, number: Nowhere().write(all_of_them(frame), number))
        self._query = writer.option("checkpointLocation", self._checkpoint).trigger(processingTime="0 seconds").start()
        return self._query

    def read(self) -> None: ...

    def stop(self) -> None:
        self._query.stop()


class AsIfAlone(MicroBatchEngine):
    """Its clock does not count the turns of the others: how often batches are measured goes by seconds."""

    def now(self) -> float:
        return super().now() / len(WAYS)


class Engine:
    """The same under Penstock."""

    def __init__(self, spark: SparkSession, source: Replay, checkpoint: str, metering: bool) -> None:
        job = Pipeline(Path(checkpoint).name, source=source)
        before: tuple[str, ...] = ()
        for name, function in OPERATORS.items():
            job.operator(name, function, after=before)
            before = (name,)
        job.sink(Nowhere(), after=before[0])
        self._engine = AsIfAlone(
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


@dataclass(frozen=True)
class Turns:
    """Whose turn it is: a number in a file, which the source of each way reads in a process of its own."""

    file: str

    def now(self) -> int:
        return int(Path(self.file).read_text())

    def give(self, number: int) -> None:
        part = Path(f"{self.file}.{number}")
        part.write_text(str(number))
        part.rename(self.file)  # whole, or not there

    @staticmethod
    def way(number: int) -> int:
        """Nobody always follows the same one."""
        turn, place = divmod(number, len(WAYS))
        return (place * (1 + 2 * (turn % 2)) + turn) % len(WAYS)


@dataclass(frozen=True)
class TakingTurns(Replay):
    """A source that has records for its query when it is the query's turn. When the query asks again its batch is over,
    and it is the next one's turn."""

    turns: Turns | None = None
    place: int = 0

    def reader(self) -> DataSourceStreamReader:
        return TurnReader(self)


class TurnReader(ReplayReader):
    def __init__(self, replay: TakingTurns) -> None:
        super().__init__(replay)
        assert replay.turns is not None
        self._turns, self._place = replay.turns, replay.place
        self._taken: int | None = None

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:  # noqa: N802
        if self._taken is not None and self._turns.now() != OVER:
            self._turns.give(self._taken + 1)
        while (now := self._turns.now()) != OVER and self._turns.way(now) != self._place:
            time.sleep(LOOK_SECONDS)
        self._taken = now
        if now == OVER:
            return start
        warm_up = now < WARM_UP_ROUNDS * len(WAYS)
        return super().latestOffset(start, ReadMaxRows(WARM_UP_RECORDS) if warm_up else limit)


def rows() -> Iterator[Throughput | Metering]:
    spark = local_session("local[2]")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        took, cpu_seconds = _run(spark, Path(folder))
    spark.stop()
    plain = took[WAYS[0]]
    for way in WAYS:
        rate = round(RECORDS_PER_BATCH / mean(took[way]))
        ratios = [a / b for a, b in zip(plain, took[way], strict=True)]
        cpu_us = round(1e6 * cpu_seconds[way] / RECORDS_PER_BATCH, 3)
        yield Throughput(way, rate, cpu_us, *_ratio(plain, took[way]), round(median(ratios), 4))
    yield Metering(*_ratio(took["engine, not metered"], took["engine"]))


def _ratio(theirs: list[float], ours: list[float]) -> tuple[float, float]:
    """Of the throughputs, with its standard error."""
    ratio = sum(theirs) / sum(ours)
    off = [a - ratio * b for a, b in zip(theirs, ours, strict=True)]
    return round(ratio, 4), round(stdev(off) / len(off) ** 0.5 / mean(ours), 4)


def _run(spark: SparkSession, folder: Path) -> tuple[dict[str, list[float]], dict[str, float]]:
    """Seconds of each batch of each way, and the CPU seconds of one's stages."""
    turns = Turns(str(folder / "turn"))
    turns.give(0)
    everything = constant(1e12, MORE_THAN_ENOUGH * RECORDS_PER_BATCH / 1e12)  # all of it is there at once

    def source(way: str) -> TakingTurns:
        return TakingTurns(
            everything.times, everything.rates, max_records_per_batch=RECORDS_PER_BATCH,
            turns=turns, place=WAYS.index(way),
        )  # fmt: skip

    plain, by_hand, metered, not_metered = WAYS
    jobs: dict[str, ByHand | Engine] = {
        plain: ByHand(spark, source(plain), str(folder / "plain"), in_batches=False),
        by_hand: ByHand(spark, source(by_hand), str(folder / "by_hand"), in_batches=True),
        metered: Engine(spark, source(metered), str(folder / "metered"), metering=True),
        not_metered: Engine(spark, source(not_metered), str(folder / "not_metered"), metering=False),
    }
    queries = {way: job.start() for way, job in jobs.items()}
    batches: dict[str, dict[int, float]] = {way: {} for way in WAYS}
    first = WARM_UP_ROUNDS + SKIPPED_ROUNDS  # a way has one batch in a round
    read_at = dict.fromkeys(WAYS, time.monotonic() + READ_SECONDS)
    while min(sum(number >= first for number in taken) for taken in batches.values()) < ROUNDS:
        time.sleep(0.05)
        way = WAYS[turns.way(turns.now())]
        if time.monotonic() >= read_at[way]:  # in its own turn: that is what it costs
            jobs[way].read()
            read_at[way] += READ_SECONDS
            batches[way] |= _seconds(queries[way])
    turns.give(OVER)
    for job in jobs.values():
        job.stop()
    counted = {way: sorted(number for number in batches[way] if number >= first)[:ROUNDS] for way in WAYS}
    return (
        {way: [batches[way][number] for number in counted[way]] for way in WAYS},
        {way: _cpu_seconds(StageReader(spark.sparkContext), queries[way], counted[way]) for way in WAYS},
    )


def _seconds(query: StreamingQuery) -> dict[int, float]:
    """Seconds of the batches that Spark remembers, by their numbers."""
    events = [json.loads(event.json) for event in query.recentProgress]
    took = {event["batchId"]: event["durationMs"] for event in events if event["numInputRows"]}
    return {number: (parts["triggerExecution"] - parts["latestOffset"]) / 1e3 for number, parts in took.items()}


def _cpu_seconds(stages: StageReader, query: StreamingQuery, numbers: list[int]) -> float:
    found = stages.of_batches(query.runId, numbers[0], numbers[-1]).values()
    return mean(sum(stage.cpu_seconds for stage in of_batch) for of_batch in found)
