"""What the engine and its metering cost in real time: the same job by hand, by the engine, and by the engine without
metering, over one steady stream at once.

One run differs from the next by a tenth, and metering is to cost a hundredth. So all run at the same time, under the
same neighbours, and it is the CPU time of their stages that is compared, batch by batch: it is what throughput is made
of where the CPU is what lacks. Who starts first changes from run to run. The first run, in which the JVM compiles, and
the first batches of each are left out.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from statistics import mean
from typing import Any

from confluent_kafka import Producer
from pyspark.sql import SparkSession

from benchmarks.realtime import STEPS, WAYS, Running, opened, ratio, running
from penstock.testbed.broker import Broker

RUNS = 6
SECONDS = 80
RATE = 27_000
SKIPPED_BATCHES = 4


@dataclass(frozen=True)
class Cost:
    """CPU microseconds of a record, and ratios with their standard errors."""

    stage: str
    by_hand: float
    not_metered: float
    metered: float
    on_against_off: float
    error: float
    against_by_hand: float
    its_error: float


def rows() -> Iterator[Cost]:
    with opened("local[24]") as (spark, broker):
        batches: dict[str, list[list[float]]] = {way: [] for way in WAYS}
        for turn in range(RUNS):
            found = together(spark, broker, turn)
            for way in WAYS if turn else ():
                batches[way] += found[way][: min(map(len, found.values()))]
    stages = {name: slice(place, place + 1) for place, name in enumerate(["the source", *STEPS])}
    for name, part in {**stages, "all": slice(0, None)}.items():
        hand, on, off = ([sum(costs[part]) for costs in batches[way]] for way in WAYS)
        by_hand, not_metered, metered = (round(mean(each), 3) for each in (hand, off, on))
        yield Cost(name, by_hand, not_metered, metered, *ratio(on, off), *ratio(on, hand))


def together(
    spark: SparkSession, broker: Broker, turn: int, ways: Sequence[str] = WAYS, running: Running = running,
    seconds: float = SECONDS,
) -> dict[str, list[list[float]]]:  # fmt: skip
    """CPU microseconds of a record in each stage, of each batch, of all ways."""
    source, sinks = f"in-{turn}", {way: f"out-{turn}-{place}" for place, way in enumerate(ways)}
    for topic in (source, *sinks.values()):
        broker.create_topic(topic, 1)
    first = turn % len(ways)
    with ExitStack() as all_of_them:
        for way in (*ways[first:], *ways[:first]):
            all_of_them.enter_context(running(spark, broker.servers, way, source, sinks[way]))
        _feed(broker, source, seconds)
        return {way: _batches(spark, sink) for way, sink in sinks.items()}


def _feed(broker: Broker, topic: str, seconds: float) -> None:
    producer, began, sent = Producer({"bootstrap.servers": broker.servers, "linger.ms": 5}), time.monotonic(), 0
    while (elapsed := time.monotonic() - began) < seconds:
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
