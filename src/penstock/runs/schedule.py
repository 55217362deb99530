"""A schedule: the plan of each interval, decided beforehand."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.model import Plan
from penstock.runs.result import Result
from penstock.runs.simulation import Simulation, result_of


@dataclass(frozen=True)
class Schedule:
    """Plans, one for each interval; the first is the one that the job starts with, as for every policy."""

    plans: tuple[Plan, ...]

    def run(self, simulation: Simulation, seed: int, name: str = "schedule") -> Result:
        """What the schedule comes to in the simulator, at the cost that changes have for everybody."""
        cluster = simulation.cluster(seed)
        for plan in self.plans:
            cluster.apply(plan)
            cluster.advance(simulation.interval_seconds)
        return result_of(cluster, policy=name, seed=seed, decision_ms=())
