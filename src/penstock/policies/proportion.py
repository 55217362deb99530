"""Proportion: drains with as many times the instances as the throughput must grow by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from penstock.model import MissingFigureError, Observation, Plan
from penstock.performance.true_rates import instances
from penstock.policies._drainer import Drainer


@dataclass(frozen=True)
class Proportion(Drainer):
    """While there is a backlog to drain, parallelism follows the ratio of target to current throughput.

    It takes throughput for linear in parallelism, so it comes too late where instances get in each other's way.
    """

    name: ClassVar[str] = "proportion"
    source: ClassVar[str] = "AuTraScale+ (TPDS 2024), section V-A: a baseline for event latency"

    def reach(self, observation: Observation, throughput: float, target: float) -> Plan:
        if throughput <= 0:
            raise MissingFigureError("throughput")  # of a job that stood still there is no ratio
        topology, plan = observation.topology, observation.plan
        grown = {name: instances(plan[name] * target, throughput) for name in topology.names}
        return plan.changed({n: min(max(k, topology[n].min), topology.ceiling(n)) for n, k in grown.items()})
