"""AUTOSCALE's diamond, star and advertising topology on Spark: quick operators, and slow ones where they end.

The records of the elementary graphs are numbers: as in the paper, only the graph matters. Operators take half of the
time that the paper's take, since a laptop has half as many cores for them.
"""

from __future__ import annotations

from functools import partial

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from penstock.papers.autoscale.workloads import ADVERTISING, DIAMOND, STAR
from penstock.papers.autrascale.spark.ads import ADS, ad_events, campaign, deserialised, only_views
from penstock.runs.spark_workload import scaled_down
from penstock.runs.workload import Workload
from penstock.spark import Pipeline
from penstock.spark.io.endpoints import Sink, Source
from penstock.spark.io.replayed import plain_values
from penstock.testbed.service import Function, takes

SECONDS = 90.0
QUICK_MS, SLOW_MS = 1, 40
FEW = 2
"""Instances that a quick operator may have; it never needs more. A spout has one, as in the paper."""

ONE_IN = 4
"""The centre of the star lets one in so many of its numbers pass."""
VIEWS, KNOWN_ADS = 0.12, 3 * ADS // 4
"""The shares of events that pass the filter, and of ads that have a campaign."""


def diamond(source: Source, sink: Sink, most: int = 12) -> Pipeline:
    job = Pipeline(DIAMOND.name, source=source)
    spout = job.operator("spout", numbers, max=1)
    branches = [
        job.operator(name, branch(name, rest), after=spout, max=min(most, FEW))
        for rest, name in enumerate(("left", "right"))
    ]
    end = job.operator("sink", takes(SLOW_MS, unchanged), after=branches, max=most)
    job.sink(sink, after=end)
    return job


def star(source: Source, sink: Sink, most: int = 12) -> Pipeline:
    """Both spouts bring the whole stream, and both sinks get all that the centre lets pass."""
    job = Pipeline(STAR.name, source=source)
    spouts = [job.operator(name, brought_by(name), max=1) for name in ("spout_1", "spout_2")]
    centre = job.operator("centre", takes(QUICK_MS, one_in_four), after=spouts, max=min(most, FEW))
    for name in ("sink_1", "sink_2"):
        end = job.operator(name, takes(SLOW_MS, unchanged), after=centre, max=most)
        job.sink(sink, after=end)
    return job


def advertising(source: Source, sink: Sink, most: int = 12) -> Pipeline:
    few = min(most, FEW)
    job = Pipeline(ADVERTISING.name, source=source)
    spout = job.operator("spout", text, max=1)
    events = job.operator("deserialise", takes(QUICK_MS, deserialised), after=spout, max=few)
    views = job.operator("filter", takes(QUICK_MS, only_views), after=events, max=few)
    ads = job.operator("ad_projection", takes(QUICK_MS, project("ad")), after=views, max=few)
    addresses = job.operator("ip_projection", takes(QUICK_MS, project("ip")), after=views, max=few)
    joined = job.operator("join", takes(QUICK_MS, join), after=ads, max=few)
    for name, column, parent in (("campaign_processor", "campaign", joined), ("ip_processor", "ip", addresses)):
        end = job.operator(name, takes(SLOW_MS, increments(column)), after=parent, key=column, max=most)
        job.sink(sink, after=end)
    return job


# The operators -------------------------------------------------------------------------------------------------------


def numbers(frame: DataFrame) -> DataFrame:
    return frame.select(F.col("value").cast("string").cast("long").alias("number"), "stamp")


def branch(name: str, rest: int) -> Function:
    """One branch of the diamond: even numbers go left, odd ones right."""
    work = takes(QUICK_MS, lambda frame: frame.withColumn("branch", F.lit(name)))
    return lambda frame: work(frame.where(f"number % 2 = {rest}"))


def brought_by(spout: str) -> Function:
    return lambda frame: numbers(frame).withColumn("spout", F.lit(spout))


def one_in_four(frame: DataFrame) -> DataFrame:
    return frame.where(f"number % {ONE_IN} = 0")


def unchanged(frame: DataFrame) -> DataFrame:
    return frame


def text(frame: DataFrame) -> DataFrame:
    return frame.select("value", "stamp")


def project(column: str) -> Function:
    return lambda frame: frame.select(column, "stamp")


def join(frame: DataFrame) -> DataFrame:
    """An ad that is in no campaign goes no further."""
    return frame.select(campaign(KNOWN_ADS).alias("campaign"), "stamp").where("campaign is not null")


def increments(column: str) -> Function:
    return lambda frame: frame.select(column, F.lit(1).alias("views"), "stamp")


# The jobs ------------------------------------------------------------------------------------------------------------


def _service_ms(simulated: Workload) -> dict[str, int]:
    """Spouts only read and do not wait; operators that keep state in the paper are slow."""
    topology = simulated.job.topology
    times = {operator.name: SLOW_MS if operator.stateful else QUICK_MS for operator in topology.operators}
    return times | dict.fromkeys(topology.roots, 0)


JOBS = (
    scaled_down(
        DIAMOND, diamond, plain_values, _service_ms(DIAMOND), seconds=SECONDS, peak=85.0,
        visits={"left": 0.5, "right": 0.5},
    ),
    scaled_down(
        STAR, star, plain_values, _service_ms(STAR), seconds=SECONDS, peak=85.0,
        visits={"centre": 2.0, "sink_1": 2 / ONE_IN, "sink_2": 2 / ONE_IN},
    ),
    scaled_down(
        ADVERTISING, advertising, partial(ad_events, views=VIEWS), _service_ms(ADVERTISING), seconds=SECONDS,
        peak=180.0,
        visits={
            **dict.fromkeys(("ad_projection", "ip_projection", "join", "ip_processor"), VIEWS),
            "campaign_processor": VIEWS * KNOWN_ADS / ADS,
        },
    ),
)  # fmt: skip
