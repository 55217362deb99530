"""The job of the demo on real Spark: clicks are parsed, looked up elsewhere, scored and published.

Sized for a laptop: two of the operators wait for others, as operators that call a service do, so that many instances
find room on few cores.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from penstock.model import Execution, Plan, Slo
from penstock.simulator.trace import Trace
from penstock.spark import Pipeline
from penstock.spark.ends.endpoints import Sink, Source
from penstock.spark.ends.replayed import Ids
from penstock.workloads.on_spark import OnSpark

SERVICE_MS = {"parse": 0, "enrich": 4, "score": 2, "publish": 0}
CAMPAIGNS = 100
SHARE_OF_WORK = 0.6
"""Of a micro-batch of a second on two cores, as measured; the rest is what every batch costs."""
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


def sized_for(rate: float, execution: Execution, busy: float = 0.5) -> Plan:
    """What someone who sizes by hand would choose: no instance more than so busy at this rate.

    In turn the operators share the slots, and a good part of each batch goes to planning and committing it.

    >>> str(sized_for(600.0, Execution.AT_ONCE))
    'parse 1, enrich 5, score 3, publish 1'
    >>> str(sized_for(600.0, Execution.IN_TURN))
    'parse 11, enrich 11, score 11, publish 11'
    """
    rates = {name: rate if name == "parse" else rate * (1 - 1 / ROBOTS) for name in SERVICE_MS}
    load = {name: rates[name] * SERVICE_MS[name] / 1e3 / busy for name in SERVICE_MS}
    if execution is Execution.IN_TURN:
        return Plan(dict.fromkeys(SERVICE_MS, math.ceil(sum(load.values()) / SHARE_OF_WORK)))
    return Plan({name: max(1, math.ceil(share)) for name, share in load.items()})


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


def waiting(milliseconds: int) -> Callable[[DataFrame], DataFrame]:
    """An operator that waits so long for each record, as for a service that answers slowly."""
    wait = f"reflect('java.lang.Thread', 'sleep', cast({milliseconds} + length(user) * 0 as bigint)) = 'null'"
    return lambda frame: frame.where(wait)


JOBS = (
    OnSpark(
        "clicks", pipeline, clicks, SERVICE_MS, surge(60.0), Slo(event_latency="2 s"),
        Plan(dict.fromkeys(SERVICE_MS, 1)),
    ),
)  # fmt: skip
