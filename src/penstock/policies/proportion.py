"""Proportion: drains a backlog by scaling the instances in the ratio by which the throughput must grow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from penstock.model import MissingFigureError, Observation, Plan
from penstock.performance.true_rates import instances
from penstock.policies._drainer import Drainer


@dataclass(frozen=True)
class Proportion(Drainer):
    """While there is a backlog to drain, parallelism follows the ratio of target to current throughput.

    It assumes that throughput is linear in parallelism, so it drains too slowly where instances compete for resources.
    """

    name: ClassVar[str] = "proportion"
    source: ClassVar[str] = "AuTraScale+ (TPDS 2024), section V-A: a baseline for event latency"

    def reach(self, observation: Observation, throughput: float, target: float) -> Plan:
        if throughput <= 0:
            raise MissingFigureError("throughput")  # there is no ratio without throughput
        topology, plan = observation.topology, observation.plan
        grown = {name: instances(plan[name] * target, throughput) for name in topology.names}
        return plan.changed({n: topology.clamp(n, k) for n, k in grown.items()})
