"""A job in real time with a fan-out and a fan-in, for benchmarks. Every record comes out twice, and says its age."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from benchmarks.numbered import with_age
from penstock.spark.io.kafka_topic import Kafka
from penstock.spark.pipeline import Pipeline


def diamond(source: Kafka, sink: Kafka) -> Pipeline:
    """Every record comes out twice, marked as that of the left and of the right branch."""

    def marked(mark: str) -> Callable[[DataFrame], DataFrame]:
        return lambda frame: frame.withColumn("value", F.concat("value", F.lit(mark)))

    job = Pipeline("changes", source=source)
    first = job.operator("read", with_age)
    branches = [job.operator(name, marked(f",{name}"), after=first) for name in ("left", "right")]
    job.sink(sink, after=job.operator("join", lambda frame: frame, after=branches))
    return job
