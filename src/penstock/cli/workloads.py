"""Every job that comes with Penstock: that of the demo, and those of the papers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.model import InvalidValueError
from penstock.model.errors import check_choice

if TYPE_CHECKING:
    from penstock.runs.spark_workload import SparkWorkload
    from penstock.runs.workload import Workload


def workloads() -> dict[str, Workload]:
    """All simulated jobs by name."""
    from penstock.demo.clicks import CLICKS, CLICKS_IN_BATCHES
    from penstock.papers import catalogue

    found = {**{each.name: each for each in (CLICKS, CLICKS_IN_BATCHES)}, **catalogue.workloads()}
    return dict(sorted(found.items()))


def workload(name: str) -> Workload:
    known = workloads()
    check_choice("workload", name, tuple(known))
    return known[name]


def spark_workloads() -> dict[str, SparkWorkload]:
    """All jobs that Spark can run as pipelines, by name."""
    from penstock.demo.clicks_on_spark import CLICKS
    from penstock.papers import catalogue

    return {job.name: job for job in (CLICKS, *catalogue.spark_workloads().values())}


def spark_workload(name: str) -> SparkWorkload:
    known, simulated = spark_workloads(), workloads()
    if name in simulated and name not in known:
        places = simulated[name].where_it_runs
        raise InvalidValueError("workload", f"{name!r} runs on {places}; choose one of {', '.join(known)}")
    check_choice("workload", name, tuple(known))
    return known[name]
