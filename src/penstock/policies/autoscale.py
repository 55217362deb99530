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
    Action,
    Activity,
    Estimate,
    capacity,
    consistent_inputs,
    estimated_capacity,
    estimated_received,
    new_degree,
)
from penstock.performance.placement import placed
from penstock.performance.regression import least_squares
from penstock.performance.true_rates import TrueRates, true_rates
from penstock.performance.waiting import waiting_records
from penstock.performance.windows import received, windows
from penstock.policies import Policy

ROUNDING = 1e-6
"""Two readings of the same moment may differ by this many seconds."""


@dataclass(frozen=True)
class Autoscale(Policy):
    """Scales out before an operator congests and in when its capacity lies idle.

    The local activity level sets the input expected of the next window beside the capacity; the global one also
    looks at what critical parents will emit. Where the cluster reports its workers, each change packs all instances
    anew onto as few of them as their claims allow: a rebalance restarts every one of them in any case.
    """

    name: ClassVar[str] = "autoscale"
    source: ClassVar[str] = "AUTOSCALE (2017): equations 1 to 11, Algorithm 1, Table I"
    measurements: ClassVar[int] = 6
    actuation: ClassVar[str | None] = "restart"

    window_seconds: float = option(60.0, "length of a window: what is regressed, and how far ahead is looked", "s")
    grace_seconds: float = option(10.0, "how long after a change measurements are ignored", "s")
    low: float = option(0.3, "activity level up to which an operator is underused", "ratio")
    high: float = option(0.8, "activity level above which it is nearly full", "ratio")
    combine: str = option("max", "own estimate or parents' output: max keeps up for certain, min saves resources")
    earlier_windows: int = option(10, "how many earlier windows the estimated capacity looks at", "windows")
    cpu_overcommit: float = option(1.0, "how many times a worker's cores may be claimed; memory never twice", "ratio")

    def __post_init__(self) -> None:
        check_number("window_seconds", self.window_seconds, 1e-3)
        check_number("grace_seconds", self.grace_seconds)
        check_number("low", self.low)
        if not self.low <= self.high <= 1.0:
            raise InvalidValueError("high", f"must be between low ({self.low:g}) and 1, not {self.high!r}")
        check_choice("combine", self.combine, tuple(COMBINE))
        check_whole("earlier_windows", self.earlier_windows)
        check_number("cpu_overcommit", self.cpu_overcommit, 1e-3)

    def decide(self, observation: Observation) -> Decision:
        topology, plan = observation.topology, observation.plan
        window = self._window(observation)
        if not window:
            text = f"nothing was measured yet after the grace period of {self.grace_seconds:g} s"
            return Decision.hold(plan, ReasonCode.WARMING_UP, text)
        estimates = self._estimates(observation, window)
        inputs = consistent_inputs(topology, estimates, self.low, self.high, self.combine)
        levels = {name: estimates[name].level(inputs[name]) for name in topology.names}
        activities = {name: Activity.of(levels[name], self.low, self.high) for name in topology.names}
        actions = {name: Action.of(activities[name], estimates[name].increasing) for name in topology.names}
        degrees = {name: new_degree(plan[name], levels[name], activities[name], actions[name]) for name in levels}
        within = {name: topology.clamp(name, k) for name, k in degrees.items()}
        busiest = max(topology.names, key=lambda name: levels[name])
        return Decision.move(
            plan,
            placed(observation, plan.changed(within), afresh=True, cpu_overcommit=self.cpu_overcommit),
            f"{busiest} is the most active: {levels[busiest]:.0%} of its capacity in the next window "
            f"({activities[busiest]}, {'increasing' if estimates[busiest].increasing else 'not increasing'})",
            figures={
                **_local_figures(estimates),
                "EstimOutput": {name: estimates[name].output(inputs[name]) for name in topology.names},
                "GlobalInput": inputs,
                "GAL": levels,
                "activity": {name: str(activity) for name, activity in activities.items()},
                "action": {name: str(action) for name, action in actions.items()},
                "degree": degrees,
            },
        )

    def _window(self, observation: Observation) -> tuple[Sample, ...]:
        """The measurements of the last window, without those before or in the grace period of the last change."""
        latest, change = observation.latest, observation.last_change
        start = latest.end - max(self.window_seconds, latest.seconds)  # a measurement may be longer than the window
        if change is not None:
            start = max(start, change.t + self.grace_seconds)
        return observation.since(start - ROUNDING)

    def _estimates(self, observation: Observation, window: Sequence[Sample]) -> dict[str, Estimate]:
        steady = tuple(sample for sample in observation.samples if not self._in_grace(sample, observation))
        past = windows(steady, self.window_seconds)[-1 - self.earlier_windows :]
        rates, pending = true_rates(replace(observation, samples=past)), waiting_records(observation)
        return {
            name: self._estimate(name, observation, window, past, rates[name], pending[name])
            for name in observation.topology.names
        }

    def _in_grace(self, sample: Sample, observation: Observation) -> bool:
        changes = (cycle.t for cycle in observation.history if cycle.changed)
        return any(t + ROUNDING < sample.end and sample.t < t + self.grace_seconds - ROUNDING for t in changes)

    def _estimate(
        self,
        name: str,
        observation: Observation,
        window: Sequence[Sample],
        past: Sequence[Sample],
        rates: TrueRates,
        pending: float,
    ) -> Estimate:
        topology, degree = observation.topology, observation.plan[name]
        newest, step = window[-1], window[-1].seconds
        count = max(1, round(self.window_seconds / step))
        trend = least_squares(
            [sample.end for sample in window],
            [received(name, topology, sample) * step / sample.seconds for sample in window],
        )
        # Earlier windows are taken at the present degree: the degree is known, only the latency has to be estimated.
        latencies = [1.0 / rate for rate in _processing_rates(name, past)]
        capacities = [capacity(latency, count * step, degree) for latency in latencies]
        return Estimate(
            received=estimated_received(trend, [newest.end + (k + 1) * step for k in range(count)]),
            pending=pending,
            capacity=capacities[-1],
            estimated_capacity=estimated_capacity(capacities),
            selectivity=rates.selectivity,
            increasing=trend.slope > 0.0,
            shares=rates.shares,
        )


def _processing_rates(name: str, past: Sequence[Sample]) -> list[float]:
    """Records per second and instance in each window in which the operator had work."""
    rates = []
    for window in past:
        operator = window.operators.get(name)
        if operator is not None and operator.records_in and operator.useful_seconds:
            rates.append(operator.records_in / operator.useful_seconds)
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
