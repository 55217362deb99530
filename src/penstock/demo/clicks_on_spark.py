"""The demo's job on real Spark, sized for a laptop.

Two of the operators wait, as operators that call a service do, so that many instances find room on few cores.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from penstock.demo.graph import CLICKS_OF_A_SESSION, GRAPH, NAME, ROBOTS, visits
from penstock.load.trace import Trace
from penstock.model import Plan, Slo
from penstock.runs.spark_workload import SparkWorkload
from penstock.spark import Pipeline
from penstock.spark.io.endpoints import Sink, Source
from penstock.spark.io.replayed import Ids
from penstock.testbed.service import Function, takes

# Enrich and sessions relate to each other as in the simulator. Spark waits for whole milliseconds, and what takes less
# than those two does not wait at all.
SERVICE_MS = {"parse": 0, "enrich": 4, "sessions": 6, "publish": 0}
USERS, PAGES = 10_000, 100


def clicks(ids: Ids) -> Sequence[bytes]:
    """Records as text: number, user, page, whether it is a robot, whether it opens a session.

    The same for the same number, always.
    """
    users = (ids * np.int64(2_654_435_761)) % USERS
    opens = (ids + ids // ROBOTS) % CLICKS_OF_A_SESSION == 0
    return [
        b"%d,u%d,/news/%d,%d,%d" % (i, user, user % PAGES, i % ROBOTS == 0, opening)
        for i, user, opening in zip(ids.tolist(), users.tolist(), opens.tolist(), strict=True)
    ]


def surge(seconds: float, low: float = 90.0, high: float = 450.0) -> Trace:
    """The load is low, rises to five times as much, stays there and falls back."""
    points = ((0.0, low), (0.15, low), (0.45, high), (0.58, high), (0.72, low), (1.0, low))
    return Trace("surge", tuple(part * seconds for part, _ in points), tuple(rate for _, rate in points))


def pipeline(source: Source, sink: Sink, most: int = 12) -> Pipeline:
    """The operators between `source` and `sink`. All are native: both engines run them."""
    job = Pipeline(NAME, source=source)
    for node in GRAPH:
        function = takes(SERVICE_MS[node.name], FUNCTIONS[node.name])
        job.operator(node.name, function, after=node.after, key=node.key or (), max=most)
    job.sink(sink, after=GRAPH[-1].name)
    return job


def parse(frame: DataFrame) -> DataFrame:
    field = F.split(F.col("value").cast("string"), ",")
    return frame.select(
        field[0].cast("long").alias("number"), field[1].alias("user"), field[2].alias("page"),
        field[3].alias("robot"), (field[4] == "1").alias("opens"), "stamp",
    ).where("robot = '0'")  # fmt: skip


def enrich(frame: DataFrame) -> DataFrame:
    """What a service would know about the page: the campaign that leads to it."""
    return frame.withColumn("campaign", F.concat(F.lit("c"), F.split("page", "/")[2]))


def sessions(frame: DataFrame) -> DataFrame:
    """A record for each session, by the click that opens it: to keep sessions open would take state."""
    return frame.where("opens")


def publish(frame: DataFrame) -> DataFrame:
    return frame.select(F.col("number").alias("session"), "user", "campaign", "stamp")


FUNCTIONS: dict[str, Function] = {"parse": parse, "enrich": enrich, "sessions": sessions, "publish": publish}

CLICKS = SparkWorkload(
    NAME, pipeline, clicks, SERVICE_MS, surge(60.0), Slo(event_latency="2 s"), Plan(dict.fromkeys(SERVICE_MS, 1)),
    visits(),
)  # fmt: skip
