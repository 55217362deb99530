"""The jobs of the papers: topology, behaviour on a cluster and the load they get. One file is one workload."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules

from penstock.model import InvalidValueError, Slo
from penstock.model.errors import unknown
from penstock.simulator.job import Job
from penstock.simulator.trace import Trace


@dataclass(frozen=True)
class Workload:
    """A job with the target and the load that it is usually tried with."""

    job: Job
    slo: Slo
    trace: Trace
    summary: str
    source: str

    @property
    def name(self) -> str:
        return self.job.name


def workloads() -> dict[str, Workload]:
    """All workloads by name: those that the modules of this package list in `WORKLOADS`."""
    found: dict[str, Workload] = {}
    for module in sorted(iter_modules(__path__), key=lambda module: module.name):
        if module.ispkg:  # on_spark: it would import Spark, and nobody who simulates needs that
            continue
        for workload in getattr(import_module(f"{__name__}.{module.name}"), "WORKLOADS", ()):
            found[workload.name] = workload
    return found


def workload(name: str) -> Workload:
    known = workloads()
    if name not in known:
        raise InvalidValueError("workload", unknown(name, known))
    return known[name]
