"""The job of the demo on real Spark: clicks are parsed, looked up elsewhere, scored and published.

Sized for a laptop: two of the operators wait for others, as operators that call a service do, so that many instances
find room on few cores.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from penstock.load.trace import Trace
from penstock.model import Plan, Slo
from penstock.runs.spark_workload import SparkWorkload
from penstock.spark import Pipeline
from penstock.spark.io.endpoints import Sink, Source
from penstock.spark.io.replayed import Ids
from penstock.testbed.service import waiting

SERVICE_MS = {"parse": 0, "enrich": 4, "score": 2, "publish": 0}
CAMPAIGNS = 100
ROBOTS = 10
"""One click in so many is a robot's, and parse drops it."""


def clicks(ids: Ids) -> Sequence[bytes]:
    """Records as text: number, user, campaign, whether it is a robot. The same for the same number, always."""
    users = (ids * np.int64(2_654_435_761)) % 10_000
    return [
        b"%d,u%d,c%d,%d" % (i, user, user % CAMPAIGNS, i % ROBOTS == 0)
        for i, user in zip(ids.tolist(), users.tolist(), strict=True)
    ]


def surge(seconds: float, low: float = 90.0, high: float = 450.0) -> Trace:
    """Calm, a rise to five times the load, a stay, and the way back."""
    points = ((0.0, low), (0.15, low), (0.45, high), (0.58, high), (0.72, low), (1.0, low))
    return Trace("surge", tuple(part * seconds for part, _ in points), tuple(rate for _, rate in points))


def pipeline(source: Source, sink: Sink, most: int = 12) -> Pipeline:
    """The four operators between `source` and `sink`. All are native: both engines run them."""
    job = Pipeline("clicks", source=source)
    parsed = job.operator("parse", parse, max=most)
    enriched = job.operator("enrich", waiting(SERVICE_MS["enrich"]), after=parsed, max=most)
    scored = job.operator("score", score, after=enriched, key="user", max=most)
    published = job.operator("publish", publish, after=scored, max=most)
    job.sink(sink, after=published)
    return job


def parse(frame: DataFrame) -> DataFrame:
    field = F.split(F.col("value").cast("string"), ",")
    return frame.select(
        field[0].cast("long").alias("number"), field[1].alias("user"), field[2].alias("campaign"),
        field[3].alias("robot"), "stamp",
    ).where("robot = '0'")  # fmt: skip


def score(frame: DataFrame) -> DataFrame:
    return waiting(SERVICE_MS["score"])(frame).withColumn("score", F.crc32("user") % 100)


def publish(frame: DataFrame) -> DataFrame:
    return frame.select("number", "user", "campaign", "score", "stamp")


JOBS = (
    SparkWorkload(
        "clicks", pipeline, clicks, SERVICE_MS, surge(60.0), Slo(event_latency="2 s"),
        Plan(dict.fromkeys(SERVICE_MS, 1)), dict.fromkeys(("enrich", "score", "publish"), 1 - 1 / ROBOTS),
    ),
)  # fmt: skip
