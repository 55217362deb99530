"""A job in real time with a fan-out and a fan-in under a steady stream, for benchmarks.

Every record comes out twice, and says its age.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import cycle, islice, pairwise
from uuid import uuid4

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from benchmarks.numbered import Seen, read_sink, with_age
from penstock.load.curves import constant
from penstock.model import Plan
from penstock.spark.dry_run import dry_run
from penstock.spark.io.kafka_topic import Kafka, kafka
from penstock.spark.io.replayed import replay
from penstock.spark.pipeline import Pipeline
from penstock.spark.realtime.engine import RealTimeEngine
from penstock.testbed.broker import Broker
from penstock.testbed.feeder import Feeder

RATE = 300.0
PARTITIONS = 2
WARM_UP_CHANGES = 20
"""Before anything is measured, with batches of a second: the JVM interprets what it has not done often, and the end of
a batch or a hand-over takes several times as long then as in a session that has run for an hour."""

Span = tuple[float, float]


def diamond(source: Kafka, sink: Kafka) -> Pipeline:
    """Every record comes out twice, marked as that of the left and of the right branch."""

    def marked(mark: str) -> Callable[[DataFrame], DataFrame]:
        return lambda frame: frame.withColumn("value", F.concat("value", F.lit(mark)))

    job = Pipeline("changes", source=source)
    first = job.operator("read", with_age)
    branches = [job.operator(name, marked(f",{name}"), after=first) for name in ("left", "right")]
    job.sink(sink, after=job.operator("join", lambda frame: frame, after=branches))
    return job


@dataclass
class Steady:
    """The job, and when it has ended the records that were to come out and those that did."""

    engine: RealTimeEngine
    expected: int = 0
    seen: list[Seen] = field(default_factory=list)

    def change(self, times: int, pause_seconds: float) -> None:
        """One operator after the other gets a second instance, or loses it again."""
        for name in islice(cycle(self.engine.topology.names), times):
            self.engine.apply(self.engine.plan().changed({name: 3 - self.engine.plan()[name]}))
            time.sleep(pause_seconds)


@contextmanager
def steady(spark: SparkSession, broker: Broker, batch_seconds: float, change: str = "handover") -> Iterator[Steady]:
    """The job under its stream, from when a window has been measured."""
    name = uuid4().hex[:8]
    source, sink = (kafka(f"{end}-{name}", servers=broker.servers) for end in ("in", "out"))
    for each in (source, sink):
        broker.create_topic(each.topic, PARTITIONS)
    load = replay(constant(RATE, 7200.0), lambda ids: [b"%d" % i for i in ids])
    job = diamond(source, sink)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as checkpoint:
        engine = RealTimeEngine(
            spark, job, dry_run(spark, job), checkpoint, batch_seconds=batch_seconds, change=change
        )  # fmt: skip
        engine.start(Plan(dict.fromkeys(engine.topology.names, 1)))
        running = Steady(engine)
        with Feeder(load, source.topic, broker.servers) as feeder:
            while not any(sample.throughput for sample in engine.read()):
                time.sleep(0.1)
            yield running
        running.expected = 2 * feeder.sent
        running.seen = read_sink(sink, running.expected)
        engine.stop()


def warm_up(spark: SparkSession, broker: Broker) -> None:
    with steady(spark, broker, batch_seconds=1.0) as job:
        job.change(WARM_UP_CHANGES, pause_seconds=0.0)


def silences(seen: Sequence[Seen], spans: Sequence[Span]) -> list[float]:
    """The longest time between two records at the sink in each span, in milliseconds."""
    times = sorted(each.written for each in seen)
    gaps = [(earlier, later - earlier) for earlier, later in pairwise(times)]
    return [1e3 * max(gap for at, gap in gaps if first <= at <= last) for first, last in spans]


def latency_ms(seen: Sequence[Seen], began: float, ended: float) -> list[float]:
    """That of the records which were written in a time."""
    return [1e3 * each.seconds for each in seen if began <= each.written <= ended]
