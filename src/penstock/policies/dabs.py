"""DABS-Storm: degrees by activity, raised where a parent's growth has an impact, at the price of lost queues."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import ClassVar

from penstock.model import Decision, InvalidValueError, Observation, ReasonCode, Sample
from penstock.model.errors import check_number, check_whole
from penstock.model.options import option
from penstock.performance.activity import expected_input, measurements_in
from penstock.performance.impact import Demand, degrees
from penstock.performance.placement import placed
from penstock.performance.true_rates import TrueRates, true_rates
from penstock.performance.waiting import waiting_records
from penstock.performance.windows import last_window
from penstock.policies import Policy


@dataclass(frozen=True)
class Dabs(Policy):
    """Sizes every operator by its activity, and the children of one that grows by its impact on them.

    It is the later system of AUTOSCALE's authors, and the one that PSPS compares with. Its rule was read in their
    public code (k2r/autoscale: activity and impact metrics, scaling manager), not in their article of 2019. What
    differs from AUTOSCALE of 2017: capacity is the mean over all measurements of the window; degrees are rounded, not
    rounded up; children follow a parent that grows, not one that is critical; a degree must be carried by the CPU that
    instances claim. A change restarts the topology and loses what waits in its queues.
    """

    name: ClassVar[str] = "dabs"
    source: ClassVar[str] = "DABS-Storm (TLDKS 2019), by its authors' code"
    measurements: ClassVar[int] = 6
    decides_with_every_measurement: ClassVar[bool] = True
    actuation: ClassVar[str | None] = "lossy_restart"

    window_seconds: float = option(60.0, "length of a window: what is regressed, and how far ahead is looked", "s")
    may_miss: int = option(
        1, "how many measurements of a window may be missing, as after a change, for it to count", "measurements"
    )
    low: float = option(0.4, "activity up to which an operator is underused", "ratio")
    high: float = option(0.8, "activity above which it is nearly full", "ratio")
    slope: float = option(
        0.1, "growth of the input above which it counts as increasing, in records per measurement", "records/s"
    )
    alpha: float = option(0.01, "part of its cores that an instance is not trusted to use: balancing takes it", "ratio")
    cpu_overcommit: float = option(1.0, "how many times a worker's cores may be claimed; memory never twice", "ratio")

    def __post_init__(self) -> None:
        check_number("window_seconds", self.window_seconds, 1e-3)
        check_whole("may_miss", self.may_miss)
        check_number("low", self.low)
        if not self.low <= self.high <= 1.0:
            raise InvalidValueError("high", f"must be between low ({self.low:g}) and 1, not {self.high!r}")
        check_number("slope", self.slope)
        if not 0.0 <= self.alpha < 1.0:
            raise InvalidValueError("alpha", f"must be at least 0 and below 1, not {self.alpha!r}")
        check_number("cpu_overcommit", self.cpu_overcommit, 1e-3)

    def decide(self, observation: Observation) -> Decision:
        topology, plan = observation.topology, observation.plan
        window = last_window(observation, self.window_seconds, self.may_miss)
        if not window:
            text = f"too little of a window of {self.window_seconds:g} s has been measured under this plan"
            return Decision.hold(plan, ReasonCode.WARMING_UP, text)
        rates, pending = true_rates(observation), waiting_records(observation)
        demands = {name: self._demand(name, observation, window, rates[name], pending[name]) for name in topology.names}
        target = plan.changed(degrees(topology, demands, self.low, self.high, self.alpha))
        busiest = max(topology.names, key=lambda name: demands[name].activity)
        return Decision.move(
            plan,
            placed(observation, target, afresh=True, cpu_overcommit=self.cpu_overcommit),
            f"{busiest} is the most active: {demands[busiest].activity:.0%} of its capacity in the next window",
            figures={
                "load": {name: demand.load for name, demand in demands.items()},
                "pending": pending,
                "capacity": {name: demand.capacity for name, demand in demands.items()},
                "activity": {name: demand.activity for name, demand in demands.items()},
                "increasing": {name: demand.increasing for name, demand in demands.items()},
                "local_degree": {name: demand.local_degree(self.low, self.high) for name, demand in demands.items()},
                "degree": {name: target[name] for name in topology.names},
            },
        )

    def _demand(
        self, name: str, observation: Observation, window: Sequence[Sample], rates: TrueRates, pending: float
    ) -> Demand:
        load, trend = expected_input(name, observation.topology, window, self.window_seconds)
        step, degree = window[-1].seconds, observation.plan[name]
        seconds = measurements_in(self.window_seconds, step) * step
        return Demand(
            load=load,
            pending=pending,
            degree=degree,
            capacity=_mean_rate(name, window, rates) * seconds * degree,
            selectivity=rates.selectivity,
            increasing=trend.slope > self.slope,
            shares=rates.shares,
            cpu_cores=observation.topology[name].cpu_cores,
        )


def _mean_rate(name: str, window: Sequence[Sample], rates: TrueRates) -> float:
    """Records per second and instance, averaged over the measurements in which the operator had work."""
    worked = [
        operator.records_in / operator.useful_seconds
        for operator in (sample.operators.get(name) for sample in window)
        if operator is not None and operator.records_in and operator.useful_seconds
    ]
    return fmean(worked) if worked else rates.processing
