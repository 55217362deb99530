"""What makes records late while a real-time job changes: is it the hand-over, or the start of any query beside them?

The job of `realtime_changes` under its steady stream, in one session that has changed it before. In turn it is left
alone, left alone while a query of the same plan starts every ten seconds on topics in which nothing comes and is
stopped again, and handed over as often. Beside the latency of all records stands what the JVM compiled meanwhile:
classes that Spark generated, which would be those of a plan that it has not seen, and the seconds in which the JVM
compiled what it had interpreted before; and the CPU time of this process, of which the broker is none.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from benchmarks.diamond import PARTITIONS, Span, latency_ms, steady, warm_up
from penstock.model import Plan
from penstock.spark.dry_run import dry_run
from penstock.spark.io.kafka_topic import kafka
from penstock.spark.pipeline import Pipeline
from penstock.spark.realtime.engine import RealTimeEngine
from penstock.spark.realtime.running_segment import RunningSegment
from penstock.testbed.broker import Broker
from penstock.testbed.jars import connector_jars
from penstock.testbed.session import local_session

ROUNDS = 2
STARTS = 6
"""In each round, of each kind."""
EVERY_SECONDS = 10.0
RUNS_SECONDS = 5.0
"""So long the query beside the job runs."""
BATCH_SECONDS = 30.0
SLOTS = 40
LATE_MS = 34.5
"""1.5 times the 99th percentile of the job left alone in `realtime_changes`: where its bar lies."""


@dataclass(frozen=True)
class Phase:
    phase: str
    starts: int
    records: int
    p50_ms: float
    p99_ms: float
    late_percent: float
    classes_generated: int
    compiling_seconds_a_start: float | None
    cpu_cores: float


@dataclass
class Watched:
    """What was seen of one kind of phase, in all rounds."""

    spans: list[Span] = field(default_factory=list)
    starts: int = 0
    generated: int = 0
    compiling_seconds: float = 0.0
    cpu_seconds: float = 0.0


def rows() -> Iterator[Phase]:
    with Broker() as broker:
        spark = local_session(f"local[{SLOTS}]", jars=connector_jars())
        try:
            warm_up(spark, broker)
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
                yield from _phases(spark, broker, folder)
        finally:
            spark.stop()


def _phases(spark: SparkSession, broker: Broker, folder: str) -> Iterator[Phase]:
    found: dict[str, Watched] = {}
    with steady(spark, broker, BATCH_SECONDS) as job:
        other = _other(spark, broker, folder)
        names = cycle(job.engine.topology.names)
        _beside(other)  # both ways once before they count
        job.change(len(job.engine.topology.names), EVERY_SECONDS / 2)
        kinds: dict[str, Callable[[], int]] = {
            "left alone": lambda: 0,
            "another query starts": lambda: _beside(other),
            "handed over": lambda: _handed_over(job.engine, next(names)),
        }
        for _ in range(ROUNDS):
            for kind, start in kinds.items():
                _watch(spark, found.setdefault(kind, Watched()), start)
    for kind, seen in found.items():
        latency = [each for span in seen.spans for each in latency_ms(job.seen, *span)]
        p50, p99 = np.percentile(latency, (50, 99))
        yield Phase(
            kind, seen.starts, len(latency), float(p50), float(p99),
            100 * sum(each > LATE_MS for each in latency) / len(latency), seen.generated,
            seen.compiling_seconds / seen.starts if seen.starts else None,
            seen.cpu_seconds / sum(end - start for start, end in seen.spans),
        )  # fmt: skip


def _watch(spark: SparkSession, seen: Watched, start: Callable[[], int]) -> None:
    began, (generated, compiling, cpu) = time.time(), _counters(spark)
    for _ in range(STARTS):
        due = time.time() + EVERY_SECONDS
        seen.starts += start()
        time.sleep(max(0.0, due - time.time()))
    ended, (generated_now, compiling_now, cpu_now) = time.time(), _counters(spark)
    seen.spans.append((began, ended))
    seen.generated += generated_now - generated
    seen.compiling_seconds += compiling_now - compiling
    seen.cpu_seconds += cpu_now - cpu


def _beside(other: RunningSegment) -> int:
    other.start(Plan({"left": 1}))
    time.sleep(RUNS_SECONDS)
    other.stop()
    return 1


def _handed_over(engine: RealTimeEngine, name: str) -> int:
    """One operator after the other gets a second instance, or loses it again."""
    engine.apply(engine.plan().changed({name: 3 - engine.plan()[name]}))
    return 1


def _other(spark: SparkSession, broker: Broker, folder: str) -> RunningSegment:
    """One segment as those of the job, on topics of its own."""
    ends = [kafka(f"{end}-beside", servers=broker.servers) for end in ("in", "out")]
    for each in ends:
        broker.create_topic(each.topic, PARTITIONS)
    source, sink = ends
    beside = Pipeline("beside", source=source)
    beside.sink(sink, after=beside.operator("left", _marked))
    engine = RealTimeEngine(spark, beside, dry_run(spark, beside), folder, batch_seconds=BATCH_SECONDS)
    [segment] = engine._segments
    segment.readers = PARTITIONS
    return segment


def _marked(frame: DataFrame) -> DataFrame:
    return frame.withColumn("value", F.concat("value", F.lit(",beside")))


def _counters(spark: SparkSession) -> tuple[int, float, float]:
    """Classes that Spark generated, seconds in which the JVM compiled, and CPU seconds of the JVM, up to now."""
    jvm: Any = spark.sparkContext._jvm
    metrics = getattr(getattr(jvm.org.apache.spark.metrics.source, "CodegenMetrics$"), "MODULE$")
    compiling = jvm.java.lang.management.ManagementFactory.getCompilationMXBean().getTotalCompilationTime() / 1e3
    process = Path(f"/proc/{jvm.java.lang.ProcessHandle.current().pid()}/stat").read_text().rpartition(")")[2].split()
    return metrics.METRIC_COMPILATION_TIME().getCount(), compiling, (int(process[11]) + int(process[12])) / 100.0
