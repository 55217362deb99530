"""What changes of plan cost a real-time job: by a hand-over, by a restart, and nothing for a job that is left alone.

A fan-out and a fan-in of cheap operators under a steady stream, in a session that has run it before. One operator after
the other gets a second instance and loses it again, with a pause in which the old query of a hand-over ends.
Silence is the longest time between two records at the sink, from when a change begins until a second after it is in
force; for the job that is left alone, in spans as long as those of the hand-overs, and between its batches: in spans of
a batch and a half, in which one ends for sure. Batches are long, as a hand-over allows it: with short ones, some batch
of the four segments ends in nearly every span, and the silence is that of its end.
Latency is that of all records, from the source's topic to the sink's. The bars of a hand-over are held against the job
that is left alone in the same run. And what the look for a cut costs each record, of which a cheap one takes some
microseconds in all.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle, pairwise
from statistics import median

import numpy as np
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812

from benchmarks.diamond import diamond
from benchmarks.numbered import Seen, read_sink
from penstock.load.curves import constant
from penstock.model import Plan
from penstock.spark.dry_run import dry_run
from penstock.spark.io.kafka_topic import kafka
from penstock.spark.io.replayed import replay
from penstock.spark.realtime.change_cost import ChangeCost
from penstock.spark.realtime.cut import Cut, tell
from penstock.spark.realtime.engine import RealTimeEngine
from penstock.testbed.broker import Broker
from penstock.testbed.feeder import Feeder
from penstock.testbed.jars import connector_jars
from penstock.testbed.session import local_session

CHANGES = {"handover": 50, "alone": 0, "restart": 10}
BATCH_SECONDS = 30.0
RATE = 300.0
SLOTS = 40
SPAN_SECONDS = 1.0
"""How long after a change is in force a silence still counts as its own."""
PAUSE_SECONDS = 7.0
"""Four of them, and the changes between, take longer than a batch: an operator's last hand-over is over by then."""
WARM_UP_SECONDS = 45.0
PARTITIONS = 2
ALONE_SECONDS = 240.0
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


Span = tuple[float, float]


def rows() -> Iterator[Way | Bar | Look]:
    with Broker() as broker:
        spark = local_session(f"local[{SLOTS}]", jars=connector_jars())
        try:
            _run(spark, broker, "warm-up", WARM_UP_SECONDS)
            ways: dict[str, Way] = {}
            spans: dict[str, list[Span]] = {}
            for way in CHANGES:
                ways[way], spans[way] = _measured(spark, broker, way, spans.get("handover", []))
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


@dataclass(frozen=True)
class Run:
    """What one way showed: between which times, the changes made, records sent and seen, and duplicates counted."""

    began: float
    ended: float
    made: list[ChangeCost]
    sent: int
    seen: list[Seen]
    counted: int


def _run(spark: SparkSession, broker: Broker, way: str, alone_seconds: float) -> Run:
    source, sink = (kafka(f"{way}-{end}", servers=broker.servers) for end in ("in", "out"))
    for each in (source, sink):
        broker.create_topic(each.topic, PARTITIONS)
    job = diamond(source, sink)
    load = replay(constant(RATE, 7200.0), lambda ids: [b"%d" % i for i in ids])
    changes = CHANGES.get(way, 0)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as checkpoint:
        engine = RealTimeEngine(
            spark, job, dry_run(spark, job), checkpoint, batch_seconds=BATCH_SECONDS,
            change=way if changes else "restart",
        )  # fmt: skip
        engine.start(Plan(dict.fromkeys(engine.topology.names, 1)))
        with Feeder(load, source.topic, broker.servers) as feeder:
            _until_a_window_has_ended(engine)
            began = time.time()
            for _, name in zip(range(changes), cycle(engine.topology.names), strict=False):
                engine.apply(engine.plan().changed({name: 3 - engine.plan()[name]}))
                time.sleep(PAUSE_SECONDS)
            if not changes:
                time.sleep(alone_seconds)
            ended = time.time()
        seen = read_sink(sink, 2 * feeder.sent)
        engine.stop()
    return Run(began, ended, list(engine.changes), 2 * feeder.sent, seen, engine.duplicates)


def _measured(spark: SparkSession, broker: Broker, way: str, before: Sequence[Span]) -> tuple[Way, list[Span]]:
    run = _run(spark, broker, way, ALONE_SECONDS)
    times = sorted(each.written for each in run.seen)
    gaps = [(earlier, later - earlier) for earlier, later in pairwise(times)]
    spans = [(change.t, change.t + change.seconds + SPAN_SECONDS) for change in run.made]
    between = None
    if not spans:
        spans = _spans(run, median(last - first for first, last in before))
        between = median(_silences(gaps, _spans(run, 1.5 * BATCH_SECONDS)))
    silences = _silences(gaps, spans)
    latency = [1e3 * each.seconds for each in run.seen if run.began <= each.written <= run.ended]
    different = {each.name for each in run.seen}
    return Way(
        way, len(run.made), sum(bool(change.restarted) for change in run.made), run.sent,
        run.sent - len(different), len(run.seen) - len(different), run.counted, median(silences), max(silences),
        between, float(np.percentile(latency, 50)), float(np.percentile(latency, 99)),
        median(change.seconds for change in run.made) if run.made else None,
    ), spans  # fmt: skip


def _spans(run: Run, length: float) -> list[Span]:
    """One behind the other."""
    return [(start, start + length) for start in np.arange(run.began, run.ended - length, length)]


def _silences(gaps: Sequence[tuple[float, float]], spans: Sequence[Span]) -> list[float]:
    """The longest silence in each span, in milliseconds."""
    return [1e3 * max(gap for at, gap in gaps if first <= at <= last) for first, last in spans]


def _until_a_window_has_ended(engine: RealTimeEngine) -> None:
    while not any(sample.throughput for sample in engine.read()):
        time.sleep(0.1)


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
