"""Who parts a chain that one core does not carry: nobody but the policy, against the query by hand without any shuffle.

Both read a long topic of one partition from its beginning, which is more than either can take at once. The job begins
with one instance of each operator, all in the task that reads. `predictive` steers it with its defaults, but for the
interval, as a minute of reading is all there is. What waits has to be worked off in order (`change="ordered"`). Records
per second are those of the second half of the topic, by when the choice has been made; and of the whole of it, with
what it took to choose.

Expected before the first run in which the policy weighs a backlog behind which nothing comes: in the simulator it parts
the chain with the first window after it knows the job, and a parted plan that was given did 1.55 times as much as by
hand. A restart and what is left of the batch before it are in the figure for the whole topic.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from pyspark.sql import SparkSession

from benchmarks.realtime import STEPS, fill, opened, pipeline, started
from penstock.model import Plan, Slo
from penstock.spark.io.kafka_topic import kafka
from penstock.spark.topics.offsets import Offsets

RECORDS = 10_000_000
BATCH, INTERVAL = "2 s", "2 s"
SLO = Slo(event_latency="10 s")
HAND, STEERED = "by hand", "engine, steered"
WARM_UP = 1_000_000
LOOK_SECONDS = 0.05
NEARLY_ALL = 0.95
AT_LEAST = 1.2
"""Times the throughput of the query by hand, where there are cores for it."""


@dataclass(frozen=True)
class Run:
    way: str
    plan: str
    changes: int
    records_per_second: float
    whole_topic_records_per_second: float
    cores: int


@dataclass(frozen=True)
class Bar:
    """How many times as many records as by hand, in the second half of the topic."""

    against_by_hand: float
    whole_topic: float
    at_least: float
    holds: bool


def rows() -> Iterator[Run | Bar]:
    with opened("local[8]") as (spark, broker):
        runs: dict[str, Run] = {}
        for topic, records in (("short", WARM_UP), ("full", RECORDS)):  # of the first the JVM gets warm
            fill(broker, topic, records)
            for way, start in ((HAND, _by_hand), (STEERED, _steered)):
                sink = f"{topic}-{way.partition(' ')[2]}"
                broker.create_topic(sink, 1)
                with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as checkpoint:
                    told = start(spark, broker.servers, topic, sink, checkpoint)
                    seen = _looks(Offsets(broker.servers), sink, records)
                    plan, changes = told()
                runs[way] = Run(way, plan, changes, _rate(seen, records / 2), _rate(seen, 1), os.cpu_count() or 1)
        yield from runs.values()
        hand, steered = runs[HAND], runs[STEERED]
        against = steered.records_per_second / hand.records_per_second
        whole = steered.whole_topic_records_per_second / hand.whole_topic_records_per_second
        yield Bar(against, whole, AT_LEAST, against >= AT_LEAST)


Told = Callable[[], tuple[str, int]]
"""Stops the job, and tells its last plan and how often it changed."""
Look = tuple[float, int]
"""A time, and the records at the sink."""


def _by_hand(spark: SparkSession, servers: str, source: str, sink: str, checkpoint: str) -> Told:
    frame = kafka(source, servers=servers).stream(spark).select("value")
    for function in STEPS.values():
        frame = function(frame)
    stop = started(spark, frame, servers, sink, checkpoint)

    def told() -> tuple[str, int]:
        stop()
        return "no shuffle", 0

    return told


def _steered(spark: SparkSession, servers: str, source: str, sink: str, checkpoint: str) -> Told:
    job = pipeline(servers, source, sink).start(
        spark, slo=SLO, checkpoint=checkpoint, engine="realtime", batch=BATCH, interval=INTERVAL, change="ordered",
        plan=Plan(dict.fromkeys(STEPS, 1)), policy="predictive",
    )  # fmt: skip

    def told() -> tuple[str, int]:
        plan, changes = str(job.plan), job.report().changes
        job.stop()
        return plan, changes

    return told


def _looks(offsets: Offsets, sink: str, records: int) -> list[Look]:
    looks: list[Look] = []
    while not looks or looks[-1][1] < records:
        ends = offsets.ends([sink])
        if ends is not None and ends[sink]:
            looks.append((time.monotonic(), ends[sink]))
        time.sleep(LOOK_SECONDS)
    return looks


def _rate(looks: Sequence[Look], since: float) -> float:
    """Records per second from when so many had come until nearly all had."""
    (start, first), (end, last) = (
        next(look for look in looks if look[1] >= reached) for reached in (since, NEARLY_ALL * looks[-1][1])
    )
    return (last - first) / (end - start)
