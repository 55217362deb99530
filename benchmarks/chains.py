"""Operators that share their instances in real time, against the query that a Spark engineer would write: no shuffle.

All ways read one topic of one partition. The engine is fused (every operator with one instance, in the task that reads)
or parted (two instances of the operator that takes most of the time, and one for those behind it). Latency is that of a
light load, throughput that of a topic read from its beginning, slots are the tasks that Spark ran for a batch. The ways
take turns, in the other order in every other round, and ratios are those of neighbours; medians of rounds are compared
for latency. What metering costs inside a chain is the CPU time of the stage with it and without it, of queries that run
at the same time over one stream. Throughput of operators apart needs cores for them: the machine's are in the rows.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import mean, median

from pyspark.sql import SparkSession

from benchmarks.realtime import STEPS, Run, fill, latencies, opened, pipeline, ratio, started, throughput
from benchmarks.realtime_metering import together
from penstock.model import Plan
from penstock.spark.dry_run import dry_run
from penstock.spark.io.kafka_topic import kafka
from penstock.spark.measure.stages import StageReader
from penstock.spark.realtime.engine import RealTimeEngine
from penstock.testbed.broker import Broker

ROUNDS = 4
LATENCY_ROUNDS = 4
METERING_RUNS = 2
METERING_SECONDS = 45
HAND, FUSED, PARTED, NOT_METERED = "by hand", "engine, fused", "engine, parted", "engine, fused, not metered"
WAYS = (HAND, FUSED, PARTED)
METERING_WAYS = (HAND, FUSED, NOT_METERED)
PLANS = {FUSED: (1, 1, 1, 1), PARTED: (2, 1, 1, 1), NOT_METERED: (1, 1, 1, 1)}


@dataclass(frozen=True)
class Throughput:
    way: str
    records_per_second: float
    against_by_hand: float
    standard_error: float
    cpu_us_per_record: float
    cores: int


@dataclass(frozen=True)
class LatencyOf:
    way: str
    p50_ms: float
    p95_ms: float
    p50_against_by_hand: float
    slots: int


@dataclass(frozen=True)
class Metering:
    """CPU microseconds of a record in the one stage, and ratios with their standard errors."""

    by_hand: float
    not_metered: float
    metered: float
    on_against_off: float
    error: float
    against_by_hand: float
    its_error: float


@contextmanager
def running(spark: SparkSession, servers: str, way: str, source: str, sink: str) -> Iterator[None]:
    with tempfile.TemporaryDirectory() as checkpoint:
        stop = (_by_hand if way == HAND else _by_engine)(spark, servers, way, source, sink, checkpoint)
        try:
            yield
        finally:
            stop()


def slots(spark: SparkSession, broker: Broker, way: str) -> int:
    """The tasks that Spark runs for a batch."""
    source, sink = (f"slots-{end}-{list(WAYS).index(way)}" for end in ("in", "out"))
    broker.create_topic(source, 1)
    broker.create_topic(sink, 1)
    with running(spark, broker.servers, way, source, sink):
        query = next(query for query in spark.streams.active if (query.name or "").startswith(sink))
        while query.lastProgress is None:
            time.sleep(0.1)
        number = query.lastProgress.batchId
        return sum(
            s.tasks for s in StageReader(spark.sparkContext).of_batches(str(query.runId), number, number)[number]
        )


def _by_hand(
    spark: SparkSession, servers: str, way: str, source: str, sink: str, checkpoint: str
) -> Callable[[], None]:
    frame = kafka(source, servers=servers).stream(spark).select("value")
    for function in STEPS.values():
        frame = function(frame)
    return started(spark, frame, servers, sink, checkpoint)


def _by_engine(
    spark: SparkSession, servers: str, way: str, source: str, sink: str, checkpoint: str
) -> Callable[[], None]:
    job, plan = pipeline(servers, source, sink), Plan(dict(zip(STEPS, PLANS[way], strict=True)))
    engine = RealTimeEngine(spark, job, dry_run(spark, job), checkpoint, metering=way != NOT_METERED)
    engine.start(plan)
    return engine.stop


def rows() -> Iterator[Throughput | LatencyOf | Metering]:
    with opened("local[8]") as (spark, broker):
        yield from _latency(spark, broker)
        yield from _throughput(spark, broker)
        yield _metering(spark, broker)


def _latency(spark: SparkSession, broker: Broker) -> Iterator[LatencyOf]:
    p50, p95 = ({way: list[float]() for way in WAYS} for _ in range(2))
    for turn in range(-1, LATENCY_ROUNDS):  # in the first round the JVM warms up
        for way in _in_turn(turn):
            each = sorted(latencies(spark, broker, way, turn, running))
            if turn >= 0:
                p50[way].append(each[len(each) // 2])
                p95[way].append(each[len(each) * 95 // 100])
    for way in WAYS:
        middle, by_hand = median(p50[way]), median(p50[HAND])
        yield LatencyOf(way, middle, median(p95[way]), round(middle / by_hand, 3), slots(spark, broker, way))


def _throughput(spark: SparkSession, broker: Broker) -> Iterator[Throughput]:
    fill(broker)
    runs: dict[str, list[Run]] = {way: [] for way in WAYS}
    for turn in range(-1, ROUNDS):
        for way in _in_turn(turn):
            run = throughput(spark, broker, way, turn, running)
            if turn >= 0:
                runs[way].append(run)
    speed = {way: [run.records_per_second for run in runs[way]] for way in WAYS}
    for way in WAYS:
        cpu = median(run.cpu_us for run in runs[way])
        ratios = ratio(speed[way], speed[HAND])
        yield Throughput(way, round(median(speed[way])), *ratios, round(cpu, 2), os.cpu_count() or 1)


def _metering(spark: SparkSession, broker: Broker) -> Metering:
    batches: dict[str, list[float]] = {way: [] for way in METERING_WAYS}
    for turn in range(METERING_RUNS):
        found = together(spark, broker, turn, METERING_WAYS, running, METERING_SECONDS)
        fewest = min(map(len, found.values()))
        for way in METERING_WAYS:
            batches[way] += [sum(stages) for stages in found[way][:fewest]]
    hand, on, off = (batches[way] for way in METERING_WAYS)
    by_hand, not_metered, metered = (round(mean(each), 3) for each in (hand, off, on))
    return Metering(by_hand, not_metered, metered, *ratio(on, off), *ratio(on, hand))


def _in_turn(turn: int) -> tuple[str, ...]:
    return WAYS if turn % 2 == 0 else WAYS[::-1]
