"""The papers' jobs as Spark runs them: generators of records, and operators from DataFrame to DataFrame.

A module lists its jobs in `JOBS`. They are the workloads of the same name, scaled down to what a laptop carries: an
operator waits for its service time instead of computing, as one that calls a service does, so that many instances
find room on few cores, and loads are such that plans come out as in the paper.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import Protocol

from penstock.model import InvalidValueError, Plan, Slo
from penstock.model.errors import unknown
from penstock.simulator.trace import Trace
from penstock.spark.ends.endpoints import Sink, Source
from penstock.spark.ends.replayed import Values
from penstock.spark.pipeline import Pipeline


class MakesPipeline(Protocol):
    def __call__(self, source: Source, sink: Sink, most: int = ...) -> Pipeline:
        """The operators between two ends; none may have more than `most` instances."""


@dataclass(frozen=True)
class OnSpark:
    """A workload that Spark can run.

    name        that of the workload
    pipeline    makes the job
    values      its records, by number: the same for the same number, always
    service_ms  what an instance of each operator takes for a record
    trace, slo  load and target on this scale
    start       the plan that runs of it begin with
    """

    name: str
    pipeline: MakesPipeline
    values: Values
    service_ms: Mapping[str, float]
    trace: Trace
    slo: Slo
    start: Plan


def jobs() -> dict[str, OnSpark]:
    """All of them by name."""
    found: dict[str, OnSpark] = {}
    for module in sorted(iter_modules(__path__), key=lambda module: module.name):
        for job in getattr(import_module(f"{__name__}.{module.name}"), "JOBS", ()):
            found[job.name] = job
    return found


def job(name: str) -> OnSpark:
    known = jobs()
    if name not in known:
        raise InvalidValueError("workload", unknown(name, known))
    return known[name]
