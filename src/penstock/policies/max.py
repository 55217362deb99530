"""Max: drains a backlog with the largest plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from penstock.model import Observation, Plan
from penstock.policies._drainer import Drainer


@dataclass(frozen=True)
class Max(Drainer):
    """While there is a backlog to drain, every operator has the most it may have."""

    name: ClassVar[str] = "max"
    source: ClassVar[str] = "AuTraScale+ (TPDS 2024), section V-A: a baseline for event latency"

    def reach(self, observation: Observation, throughput: float, target: float) -> Plan:
        return observation.plan.changed(Plan.largest(observation.topology).parallelism)
