"""What changes of plan cost a real-time job: by a hand-over, by a restart, and nothing for a job that is left alone.

A fan-out and a fan-in of cheap operators under a steady stream, in a session that has run it before. One operator after
the other gets a second instance and loses it again, with a pause in which the old query of a hand-over ends.
Silence is the longest time between two records at the sink, from when a change begins until a second after it is in
force; for the job that is left alone, in spans as long as those of the hand-overs, and between its batches: in spans of
a batch and a half, in which one ends for sure. Batches are long, as a hand-over allows it: with short ones, some batch
of the four segments ends in nearly every span, and the silence is that of its end.
Latency is that of all records, from the source's topic to the sink's. The bars of a hand-over are held against the job
that is left alone in the same run. The batches of its segments end at different times, as those of the job that changes
do, and as they do in every job that has run for long: each end takes another time, and they drift apart. Just after a
start they end together, and a record waits for one end and not for four: that job is measured besides.
How far records pass each other is told by the time of their creation: in the worst case of a whole run, in which two
partitions are read by two tasks, with and without changes.
And what the look for a cut costs each record, of which a cheap one takes some microseconds in all.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812

from benchmarks.diamond import PARTITIONS, Span, Steady, latency_ms, silences, steady, warm_up
from benchmarks.numbered import Seen
from penstock.spark.realtime.change_cost import ChangeCost
from penstock.spark.realtime.cut import Cut, tell
from penstock.testbed.broker import Broker
from penstock.testbed.jars import connector_jars
from penstock.testbed.session import local_session

CHANGES = {"handover": 50, "alone": 0, "alone, batches end together": 0, "restart": 6}
BATCH_SECONDS = 30.0
SLOTS = 40
SPAN_SECONDS = 1.0
"""How long after a change is in force a silence still counts as its own."""
PAUSE_SECONDS = 7.0
"""Four of them, and the changes between, take longer than a batch: an operator's last hand-over is over by then."""
ALONE_SECONDS = 180.0
LOOKS = 5_000_000
MOST_SILENCE_MS = 100.0
MOST_P99 = 1.5
"""Times that of the job that is left alone."""


@dataclass(frozen=True)
class Way:
    way: str
    changes: int
    restarts: int
    records: int
    lost: int
    twice: int
    counted: int
    median_silence_ms: float
    longest_silence_ms: float
    between_batches_ms: float | None
    p50_ms: float
    p99_ms: float
    over_100_ms_percent: float
    overtaken_ms: float
    median_seconds: float | None


@dataclass(frozen=True)
class Bar:
    """Something that a hand-over has to reach: at most so much."""

    bar: str
    measured: float
    at_most: float
    holds: bool


@dataclass(frozen=True)
class Look:
    what: str
    nanoseconds: float


def rows() -> Iterator[Way | Bar | Look]:
    with Broker() as broker:
        spark = local_session(f"local[{SLOTS}]", jars=connector_jars())
        try:
            warm_up(spark, broker)
            ways: dict[str, Way] = {}
            spans: list[Span] = []
            for way in CHANGES:
                ways[way], of_changes = _measured(spark, broker, way, spans)
                spans = spans or of_changes
                yield ways[way]
            yield from bars(ways["handover"], ways["alone"])
            yield from _looks(spark)
        finally:
            spark.stop()


def bars(handover: Way, alone: Way) -> Iterator[Bar]:
    """What a hand-over has to reach, beside a job that is left alone."""
    held = [
        ("records lost", handover.lost, 0.0),
        ("records twice", handover.twice, 0.0),
        ("median silence, ms", handover.median_silence_ms, MOST_SILENCE_MS),
        ("median silence, ms, between batches", handover.median_silence_ms, alone.between_batches_ms or 0.0),
        ("p99 latency, ms", handover.p99_ms, MOST_P99 * alone.p99_ms),
    ]
    for bar, measured, at_most in held:
        yield Bar(bar, measured, at_most, measured <= at_most)


def _measured(spark: SparkSession, broker: Broker, way: str, before: Sequence[Span]) -> tuple[Way, list[Span]]:
    changes, together = CHANGES[way], way not in ("handover", "alone")
    with steady(spark, broker, BATCH_SECONDS, change="restart" if way == "restart" else "handover") as job:
        if not together:  # each segment once: their batches end at different times from now on
            job.change(len(job.engine.topology.names), PAUSE_SECONDS)
        began, known = time.time(), len(job.engine.changes)
        job.change(changes, PAUSE_SECONDS)
        if not changes:
            time.sleep(ALONE_SECONDS)
        ended = time.time()
    made = list(job.engine.changes)[known:]
    spans = [(change.t, change.t + change.seconds + SPAN_SECONDS) for change in made]
    between = None
    if not spans:
        spans = _spans(began, ended, median(last - first for first, last in before))
        between = median(silences(job.seen, _spans(began, ended, 1.5 * BATCH_SECONDS)))
    return _way(way, job, made, silences(job.seen, spans), between, latency_ms(job.seen, began, ended)), spans


def _way(
    way: str, job: Steady, made: Sequence[ChangeCost], silent: Sequence[float], between: float | None,
    latency: Sequence[float],
) -> Way:  # fmt: skip
    different = {each.name for each in job.seen}
    return Way(
        way, len(made), sum(bool(change.restarted) for change in made), job.expected,
        job.expected - len(different), len(job.seen) - len(different), job.engine.duplicates,
        median(silent), max(silent), between, float(np.percentile(latency, 50)), float(np.percentile(latency, 99)),
        100 * sum(each > 100.0 for each in latency) / len(latency), overtaken_ms(job.seen),
        median(change.seconds for change in made) if made else None,
    )  # fmt: skip


def overtaken_ms(seen: Sequence[Seen]) -> float:
    """By how much the youngest record that came before an older one of its branch was younger, at the most."""
    most = 0.0
    for branch in {each.name.partition(b",")[2] for each in seen}:
        created = [each.created for each in sorted(seen, key=_written) if each.name.endswith(b"," + branch)]
        most = max(most, float(np.max(np.maximum.accumulate(created) - created)))
    return 1e3 * most


def _written(record: Seen) -> tuple[float, float]:
    """Records written in the same millisecond are taken to be in order."""
    return record.written, record.created


def _spans(began: float, ended: float, length: float) -> list[Span]:
    """One behind the other."""
    return [(start, start + length) for start in np.arange(began, ended - length, length)]


def _looks(spark: SparkSession) -> Iterator[Look]:
    """The time of a record in a stage that only counts, with and without a look for a cut."""
    there = Cut(spark)
    tell(spark, there.properties({"in": {str(n): 2**60 for n in range(PARTITIONS)}}), free=lambda: 1)
    number = F.col("id")
    records = spark.range(0, LOOKS, 1, 1).select(
        F.lit("in").alias("topic"), (number % PARTITIONS).cast("int").alias("partition"), number.alias("offset")
    )
    frames = {
        "no look": records,
        "a look, no cut": records.where(Cut(spark).passes()),
        "a look, and a cut": records.where(there.passes()),
    }
    for what, frame in frames.items():
        counted = frame.agg(F.sum("offset"), F.sum("partition"))
        seconds = []
        for _ in range(4):  # the first one is warm-up
            began = time.perf_counter()
            counted.collect()
            seconds.append(time.perf_counter() - began)
        yield Look(what, 1e9 * median(seconds[1:]) / LOOKS)
