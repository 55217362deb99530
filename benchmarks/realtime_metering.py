"""What measuring the operators costs in real time: the same job, metered and not, over one steady stream at once.

One run differs from the next by a tenth, and metering is to cost a hundredth. So both run at the same time, under the
same neighbours, and it is the CPU time of their stages that is compared, batch by batch: it is what throughput is made
of where the CPU is what lacks. Who starts first changes from run to run.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from statistics import mean
from typing import Any

from confluent_kafka import Producer
from pyspark.sql import SparkSession

from benchmarks.realtime import ratio, running
from penstock.spark.realtime.quiet import hush_stopped_tasks
from penstock.spark.session import local_session
from penstock.spark.topics.broker import Broker
from penstock.spark.topics.jars import connector_jars

RUNS = 4
SECONDS = 60
RATE = 40_000
SKIPPED_BATCHES = 3
WAYS = ("engine", "engine, not metered")


@dataclass(frozen=True)
class Metering:
    stages: str
    not_metered_us: float
    metered_us: float
    on_against_off: float
    standard_error: float


def rows() -> Iterator[Metering]:
    with Broker() as broker:
        spark = local_session("local[16]", jars=connector_jars())
        try:
            hush_stopped_tasks(spark)
            yield from _rows(spark, broker)
        finally:
            spark.stop()


def _rows(spark: SparkSession, broker: Broker) -> Iterator[Metering]:
    batches: dict[str, list[list[float]]] = {way: [] for way in WAYS}
    for turn in range(RUNS):
        found = _together(spark, broker, turn)
        for way in WAYS:
            batches[way] += found[way][: min(map(len, found.values()))]
    parts = {"the source": slice(0, 1), "operators": slice(1, None), "all": slice(0, None)}
    for name, part in parts.items():
        on, off = ([sum(stages[part]) for stages in batches[way]] for way in WAYS)
        yield Metering(name, round(mean(off), 3), round(mean(on), 3), *ratio(on, off))


def _together(spark: SparkSession, broker: Broker, turn: int) -> dict[str, list[list[float]]]:
    """CPU microseconds of a record in each stage, of each batch, of both ways."""
    source, sinks = f"in-{turn}", {way: f"out-{turn}-{place}" for place, way in enumerate(WAYS)}
    for topic in (source, *sinks.values()):
        broker.create_topic(topic, 1)
    with ExitStack() as both:
        for way in WAYS if turn % 2 == 0 else WAYS[::-1]:
            both.enter_context(running(spark, broker.servers, way, source, sinks[way]))
        _feed(broker, source)
        return {way: _batches(spark, sink) for way, sink in sinks.items()}


def _feed(broker: Broker, topic: str) -> None:
    producer, began, sent = Producer({"bootstrap.servers": broker.servers, "linger.ms": 5}), time.monotonic(), 0
    while (elapsed := time.monotonic() - began) < SECONDS:
        while sent < elapsed * RATE:
            producer.produce(topic, b'{"name": "user%d", "amount": %f}' % (sent % 1000, 0.37 * sent))
            sent += 1
        producer.poll(0)
        time.sleep(0.005)
    producer.flush()


def _batches(spark: SparkSession, name: str) -> list[list[float]]:
    """Those of the query of that name, without the first ones."""
    context: Any = spark.sparkContext._jsc.sc()
    store, tracker = context.statusStore(), context.statusTracker()
    query = next(query for query in spark.streams.active if (query.name or "").startswith(name))
    jobs = map(store.job, tracker.getJobIdsForGroup(query.runId))
    job_of = {job.description().get().rpartition(" ")[2]: job for job in jobs}  # "... batch = 7"
    costs = []
    for progress in query.recentProgress[SKIPPED_BATCHES:]:
        ids = job_of[str(progress.batchId)].stageIds()
        stages = [store.lastStageAttempt(number) for number in sorted(ids.apply(i) for i in range(ids.size()))]
        costs.append([stage.executorCpuTime() / 1e3 / progress.numInputRows for stage in stages])
    return costs
