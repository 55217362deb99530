"""AUTOSCALE's line on Spark: items come in, pass a quick operator and end in a slow one.

From Table III the slow operator takes forty times as long as the quick one; both are halved here, and twice as many
items come. The stream is that of the simulated job, twenty times as fast: half an hour in a minute and a half.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from penstock.model import Plan
from penstock.papers.autoscale.workloads import HIGH, LINEAR, MOST, QUICK_MS, SLOW_MS, three_step
from penstock.runs.spark_workload import SparkWorkload
from penstock.spark import Pipeline
from penstock.spark.io.endpoints import Sink, Source
from penstock.spark.io.replayed import Ids
from penstock.testbed.service import waiting

FASTER, COMPRESSED = 2.0, 20.0
SERVICE_MS = {"spout": 0, "intermediate": round(QUICK_MS / FASTER), "sink": round(SLOW_MS / FASTER)}


def items(ids: Ids) -> Sequence[bytes]:
    """The items of these numbers."""
    return [b"item %d" % i for i in ids.tolist()]


def pipeline(source: Source, sink: Sink, most: int = MOST) -> Pipeline:
    """Spout, intermediate and sink, all native. The paper does not scale spouts."""
    job = Pipeline("linear", source=source)
    spout = job.operator("spout", emit, max=1)
    quick = job.operator("intermediate", waiting(SERVICE_MS["intermediate"]), after=spout, max=most)
    job.operator("sink", deliver, after=quick, key="item", max=most)
    job.sink(sink, after="sink")
    return job


def emit(frame: DataFrame) -> DataFrame:
    return frame.select(F.col("value").cast("string").alias("item"), "stamp")


def deliver(frame: DataFrame) -> DataFrame:
    return waiting(SERVICE_MS["sink"])(frame).withColumn("delivered", F.upper("item"))


JOBS = (
    SparkWorkload(
        "linear", pipeline, items, SERVICE_MS, three_step().compressed(COMPRESSED).scaled(FASTER * HIGH), LINEAR.slo,
        Plan(dict.fromkeys(SERVICE_MS, 1)),
    ),
)  # fmt: skip
