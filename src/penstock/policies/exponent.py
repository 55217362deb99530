"""Exponent: drains a backlog by doubling the instances until the throughput is enough."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from penstock.model import Observation, Plan
from penstock.policies._drainer import Drainer


@dataclass(frozen=True)
class Exponent(Drainer):
    """While there is a backlog to drain, parallelism doubles at each decision until the throughput is reached."""

    name: ClassVar[str] = "exponent"
    source: ClassVar[str] = "AuTraScale+ (TPDS 2024), section V-A: a baseline for event latency"

    def reach(self, observation: Observation, throughput: float, target: float) -> Plan:
        times = 1 if throughput >= target else 2
        topology, plan = observation.topology, observation.plan
        return plan.changed({name: min(times * plan[name], topology.ceiling(name)) for name in topology.names})
