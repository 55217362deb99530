"""Jobs in real time for tests: operators of known service times in a line, and a fan-out with a fan-in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from penstock.model import Plan
from penstock.spark.dry_run import dry_run
from penstock.spark.executors.slots import SlotSupplier
from penstock.spark.graph import MOST_INSTANCES
from penstock.spark.io.kafka_topic import kafka
from penstock.spark.pipeline import Pipeline
from penstock.spark.realtime.engine import RealTimeEngine


def takes(milliseconds: float) -> Callable[[DataFrame], DataFrame]:
    """An operator with a known service time, as one that asks another system for every record."""
    wait = f"reflect('java.lang.Thread', 'sleep', cast({milliseconds} + 0 * length(value) as bigint))"
    return lambda frame: frame.withColumn("waited", F.expr(wait)).where("waited = 'null'").drop("waited")


def as_text(frame: DataFrame) -> DataFrame:
    return frame.select(F.col("value").cast("string").alias("value"), "stamp")


def marked(mark: str) -> Callable[[DataFrame], DataFrame]:
    return lambda frame: frame.withColumn("value", F.concat("value", F.lit(mark)))


def line(source: Any, sink: Any, **milliseconds: float) -> Pipeline:
    """Operators of known service times, one behind the other."""
    job = Pipeline(source.name, source=kafka(source.name, servers=source.broker.servers))
    after: Any = ()
    for name, length in milliseconds.items():
        after = job.operator(name, (lambda ms: lambda frame: takes(ms)(as_text(frame)))(length), after=after)
    job.sink(kafka(sink.name, servers=sink.broker.servers), after=after)
    return job


def diamond(source: Any, sink: Any, most: int = MOST_INSTANCES) -> Pipeline:
    job = Pipeline(source.name, source=kafka(source.name, servers=source.broker.servers))
    read = job.operator("read", as_text, max=most)
    left = job.operator("left", marked("l"), after=read, max=most)
    right = job.operator("right", marked("r"), after=read, max=most)
    joined = job.operator("join", lambda frame: frame, after=[left, right], max=most)
    job.sink(kafka(sink.name, servers=sink.broker.servers), after=joined)
    return job


@contextmanager
def running(
    spark: SparkSession,
    job: Pipeline,
    checkpoint: str,
    *,
    batch_seconds: float = 1.0,
    change: str = "restart",
    slots: SlotSupplier | None = None,
    **plan: int,
) -> Iterator[RealTimeEngine]:
    tried = dry_run(spark, job)
    engine = RealTimeEngine(spark, job, tried, checkpoint, batch_seconds=batch_seconds, change=change, slots=slots)
    engine.start(Plan(plan))
    try:
        yield engine
    finally:
        engine.stop()
