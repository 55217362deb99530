"""A job with the target and the load that it is tried with."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.load.trace import Trace
from penstock.model import Slo
from penstock.simulator.job import Job


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
