"""What the runs of policies are measured against: the oracle's costs, and the demand of the load."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.model import PenstockError
from penstock.performance.elasticity import Elasticity, StepCurve, elasticity
from penstock.runs.oracle import Oracle
from penstock.runs.result import Result
from penstock.runs.simulation import Simulation
from penstock.simulator.ladder import ladder


@dataclass(frozen=True)
class Scored:
    """A run with what it is worth beside the best that can be had; None where nobody knows that.

    oracle_ratio  its core-seconds, times those of the oracle
    elasticity    how well its slots followed the demand
    """

    result: Result
    oracle_ratio: float | None = None
    elasticity: Elasticity | None = None


@dataclass(frozen=True)
class Yardstick:
    """The measure of one load.

    oracle  the best schedules; None where none was asked for or found
    demand  the fewest slots at which every target holds, over time; None where no plan meets the targets at all
    window  seconds over which the directions of supply and demand are compared: the interval of decisions
    """

    oracle: Oracle | None
    demand: StepCurve | None
    window: float

    @classmethod
    def of(cls, simulation: Simulation, oracle: Oracle | None) -> Yardstick:
        load = simulation.workload
        try:
            steps = ladder(load.job, load.slo, load.trace.peak)
        except PenstockError:
            return cls(oracle, None, simulation.interval_seconds)
        return cls(oracle, steps.demand(load.trace, simulation.step_seconds), simulation.interval_seconds)

    def score(self, result: Result) -> Scored:
        ratio = None if self.oracle is None else result.core_seconds / self.oracle.best.core_seconds
        followed = None
        if self.demand is not None and result.supply:
            supply = StepCurve(tuple(t for t, _ in result.supply), tuple(float(slots) for _, slots in result.supply))
            followed = elasticity(self.demand, supply, result.seconds, self.window)
        return Scored(result, ratio, followed)
