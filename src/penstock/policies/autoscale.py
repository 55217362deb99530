"""AUTOSCALE: fits each operator to the input a regression expects, and to what its critical parents will send it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from penstock.model import Decision, InvalidValueError, Observation, ReasonCode, Sample
from penstock.model.errors import check_choice, check_number, check_whole
from penstock.model.options import option
from penstock.performance.activity import (
    COMBINE,
    Estimate,
    capacity,
    estimated_capacity,
    expected_input,
    measurements_in,
    sized,
)
from penstock.performance.placement import placed
from penstock.performance.true_rates import TrueRates, true_rates
from penstock.performance.waiting import waiting_records
from penstock.performance.windows import grouped, last_window, merged
from penstock.policies import Policy

LEAST_RATE = 1e-9
"""A rate that is lower, in records per second, is that of an operator without work: a capacity follows from none."""


@dataclass(frozen=True)
class Autoscale(Policy):
    """Scales out before an operator congests and in when its capacity lies idle.

    The local activity level sets the input expected of the next window beside the capacity; the global one also
    looks at what the parents will emit. It decides with every measurement, over a window that slides. After a change
    it waits until all but one of a window's measurements were made under the new plan, as its authors' code does.
    Where the cluster reports its workers, each change packs all instances anew onto as few of them as their claims and
    the workers' slots allow: a rebalance restarts every one of them in any case.
    """

    name: ClassVar[str] = "autoscale"
    source: ClassVar[str] = "AUTOSCALE (2017): equations 1 to 11, Algorithm 1, Table I"
    measurements: ClassVar[int] = 6
    decides_with_every_measurement: ClassVar[bool] = True
    actuation: ClassVar[str | None] = "restart"

    window_seconds: float = option(60.0, "length of a window: what is regressed, and how far ahead is looked", "s")
    may_miss: int = option(
        1, "how many measurements of a window may be missing, as after a change, for it to count", "measurements"
    )
    low: float = option(0.3, "activity level up to which an operator is underused", "ratio")
    high: float = option(0.8, "activity level above which it is nearly full", "ratio")
    combine: str = option("max", "own estimate or parents' output: max keeps up for certain, min saves resources")
    earlier_windows: int = option(10, "how many earlier windows the estimated capacity looks at", "windows")
    cpu_overcommit: float = option(1.0, "how many times a worker's cores may be claimed; memory never twice", "ratio")

    def __post_init__(self) -> None:
        check_number("window_seconds", self.window_seconds, 1e-3)
        check_whole("may_miss", self.may_miss)
        check_number("low", self.low)
        if not self.low <= self.high <= 1.0:
            raise InvalidValueError("high", f"must be between low ({self.low:g}) and 1, not {self.high!r}")
        check_choice("combine", self.combine, tuple(COMBINE))
        check_whole("earlier_windows", self.earlier_windows)
        check_number("cpu_overcommit", self.cpu_overcommit, 1e-3)

    def decide(self, observation: Observation) -> Decision:
        topology, plan = observation.topology, observation.plan
        window = last_window(observation, self.window_seconds, self.may_miss)
        if not window:
            text = f"too little of a window of {self.window_seconds:g} s has been measured under this plan"
            return Decision.hold(plan, ReasonCode.WARMING_UP, text)
        estimates = self._estimates(observation, window)
        operators = sized(topology, estimates, self.low, self.high, self.combine)
        busiest = max(topology.names, key=lambda name: operators[name].level)
        target = plan.changed({name: operators[name].degree for name in topology.names})
        return Decision.move(
            plan,
            placed(observation, target, afresh=True, cpu_overcommit=self.cpu_overcommit),
            f"{busiest} is the most active: {operators[busiest].level:.0%} of its capacity in the next window "
            f"({operators[busiest].activity}, {'' if estimates[busiest].increasing else 'not '}increasing)",
            figures={
                **_local_figures(estimates),
                "EstimOutput": {name: operators[name].output for name in topology.names},
                "GlobalInput": {name: operators[name].input for name in topology.names},
                "GAL": {name: operators[name].level for name in topology.names},
                "activity": {name: str(operators[name].activity) for name in topology.names},
                "action": {name: str(operators[name].action) for name in topology.names},
                "degree": {name: operators[name].degree for name in topology.names},
            },
        )

    def _estimates(self, observation: Observation, window: Sequence[Sample]) -> dict[str, Estimate]:
        past = grouped(observation.samples, self.window_seconds)[-1 - self.earlier_windows :]
        earlier = observation.samples[: -len(window)]
        rates = true_rates(replace(observation, samples=(*earlier, merged(window))))
        pending = waiting_records(observation)
        return {
            name: self._estimate(name, observation, window, past, rates[name], pending[name])
            for name in observation.topology.names
        }

    def _estimate(
        self,
        name: str,
        observation: Observation,
        window: Sequence[Sample],
        past: Sequence[Sequence[Sample]],
        rates: TrueRates,
        pending: float,
    ) -> Estimate:
        degree, step = observation.plan[name], window[-1].seconds
        ahead, trend = expected_input(name, observation.topology, window, self.window_seconds)
        # Earlier windows are taken at the present degree: the degree is known, only the latency has to be estimated.
        seconds = measurements_in(self.window_seconds, step) * step
        capacities = [capacity(1.0 / rate, seconds, degree) for rate in _processing_rates(name, past)]
        return Estimate(
            received=ahead,
            pending=pending,
            degree=degree,
            capacity=capacities[-1],
            estimated_capacity=estimated_capacity(capacities),
            selectivity=rates.selectivity,
            increasing=trend.slope > 0.0,
            shares=rates.shares,
        )


def _processing_rates(name: str, past: Sequence[Sequence[Sample]]) -> list[float]:
    """Records per second and instance in each window in which the operator had work."""
    rates = []
    for window in past:
        operators = [sample.operators[name] for sample in window if name in sample.operators]
        records = [operator.records_in for operator in operators]
        seconds = [operator.useful_seconds for operator in operators]
        if None not in records and None not in seconds:
            done, useful = sum(filter(None, records)), sum(filter(None, seconds))
            if useful and done / useful > LEAST_RATE:
                rates.append(done / useful)
    return rates


def _local_figures(estimates: dict[str, Estimate]) -> dict[str, dict[str, float | bool]]:
    return {
        "EstimR": {name: estimate.received for name, estimate in estimates.items()},
        "pending": {name: estimate.pending for name, estimate in estimates.items()},
        "EstimInput": {name: estimate.input for name, estimate in estimates.items()},
        "increasing": {name: estimate.increasing for name, estimate in estimates.items()},
        "Capacity": {name: estimate.capacity for name, estimate in estimates.items()},
        "EstimCapacity": {name: estimate.estimated_capacity for name, estimate in estimates.items()},
        "LAL": {name: estimate.level(estimate.input) for name, estimate in estimates.items()},
        "SF": {name: estimate.selectivity for name, estimate in estimates.items()},
    }
