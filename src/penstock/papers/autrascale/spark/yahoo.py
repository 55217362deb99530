"""The Yahoo streaming benchmark on Spark: which campaign was seen how often in which ten seconds.

The last operator asks a key-value store of limited rate. It emits increments, which the store adds up: an operator
that kept the counts itself could not be rescaled in real time.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from penstock.papers.autrascale.spark.ads import ad_events, campaign, deserialised, only_views
from penstock.papers.autrascale.spark.store import asking
from penstock.papers.autrascale.workloads.yahoo import OPEN_STORE, STORE_RATE, YAHOO
from penstock.runs.spark_workload import scaled_down
from penstock.spark import Pipeline
from penstock.spark.io.endpoints import Sink, Source
from penstock.testbed.service import Function, takes

PEAK = 220.0
WINDOW_MS = 10_000

# As in the benchmark a third of the events are views, and only they pass the filter; the simulated job counts in
# source records. What is behind the filter takes three times as long here, so that an event means as much work.
# The filter's share would be less than half a millisecond: it takes none.
VIEWS = 1 / 3
SERVICE_MS = {"source": 2, "parse": 1, "filter": 0, "project": 1, "join": 36}
VISITS = dict.fromkeys(("project", "join"), VIEWS)

REQUESTS = VIEWS * STORE_RATE * PEAK / YAHOO.trace.peak
"""Requests that the store answers in a second: at the peak it is as near to its limit as in the simulated job."""


def pipeline(
    name: str, join: Function, source: Source, sink: Sink, most: int = 12, service_ms: Mapping[str, int] = SERVICE_MS
) -> Pipeline:
    """Operators that take little of the time may have two instances; they never need more."""
    few = min(most, 2)
    job = Pipeline(name, source=source)
    read = job.operator("source", takes(service_ms["source"], as_it_comes), max=most)
    parsed = job.operator("parse", takes(service_ms["parse"], deserialised), after=read, max=few)
    views = job.operator("filter", takes(service_ms["filter"], only_views), after=parsed, max=few)
    projected = job.operator("project", takes(service_ms["project"], project), after=views, max=few)
    joined = job.operator("join", takes(service_ms["join"], join), after=projected, max=most)
    job.sink(sink, after=joined)
    return job


def as_it_comes(frame: DataFrame) -> DataFrame:
    return frame.select("value", "stamp")


def project(frame: DataFrame) -> DataFrame:
    return frame.select("ad", "at", "stamp")


def increments(frame: DataFrame) -> DataFrame:
    """One more for the ad's campaign in the window that the event falls into."""
    window = F.floor(F.col("at") / WINDOW_MS) * WINDOW_MS
    return frame.select(campaign().alias("campaign"), window.alias("window"), F.lit(1).alias("views"), "stamp")


def stored(frame: DataFrame) -> DataFrame:
    return asking("yahoo", REQUESTS)(increments(frame))


JOBS = tuple(
    scaled_down(
        simulated, partial(pipeline, simulated.name, join), partial(ad_events, views=VIEWS), SERVICE_MS,
        seconds=90.0, peak=PEAK, visits=VISITS,
    )
    for simulated, join in ((YAHOO, stored), (OPEN_STORE, increments))
)  # fmt: skip
