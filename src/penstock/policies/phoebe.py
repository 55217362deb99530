"""Phoebe: the smallest scale-out that would recover from a failure in time, under the load that is expected.

    scale-out   one number of instances for all operators, as the paper's jobs have
    capacity    the highest throughput at each scale-out, by regression (`capacity`)
    forecast    the input rate over the next `prediction_period`
    recovery    how long the job would be behind after a failure now, at each scale-out (`recovery`)
    valid       recovery below `max_recovery_time`; the smallest valid scale-out is the best
    none valid  the scale-out of the shortest recovery, or a smaller one within 5 % of it
    kept        the one in force, if it is valid and the load rises; and if the best is only one or two smaller

It evaluates once `evaluation_interval` has passed since the last change.

Read from the code of its repository. Ours, where Penstock works otherwise or a part is not needed:
- Phoebe profiles `scale_out_count` scale-outs beforehand by putting copies of the job under back-pressure. Here each
  window shows by its true rates what the job could take at the scale-out in force; until another one ran, the same
  rates stand for it.
- A plan whose operators differ is no scale-out: it goes to the best one.
- Its ensemble of ARIMA models is replaced by the forecaster of the loop, whose step is taken to go on, and without
  one by the trend of the input since the last change, but for `averaging_window` at least and no longer than the
  evaluation interval.
- Its latency model (boosted trees, two clusters) sorts out scale-outs that cannot keep up: those do not recover either.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from penstock.model import Decision, InvalidValueError, MissingFigureError, Observation, Topology
from penstock.model.errors import check_required_number, check_whole
from penstock.model.options import option
from penstock.performance.capacity import Capacity
from penstock.performance.recovery import recovery_seconds
from penstock.performance.regression import Line, least_squares
from penstock.performance.true_rates import arriving, headroom, input_rates, true_rates
from penstock.policies import Policy, State

ALIKE = 0.05
"""Recovery times that differ by less than this are the same."""
NOT_WORTH_IT = (1, 2)
"""Smaller by this many instances is no reason for a change."""


@dataclass
class Phoebe(Policy):
    """Runs the smallest scale-out that would be back within three minutes if the job failed now."""

    name: ClassVar[str] = "phoebe"
    source: ClassVar[str] = (
        "Phoebe (ICWS 2022, arXiv 2206.09679): capacity and recovery time models; github.com/dos-group/phoebe"
    )

    max_recovery_time: float = option(180.0, "how long a recovery may take (general.maxRecTimeConst)", "s")
    downtime: float = option(110.0, "from a failure until the job runs again (10 + 100 in Graph.java)", "s")
    last_checkpoint: float = option(10.0, "since the last checkpoint (general.chkInterval)", "s")
    prediction_period: float = option(600.0, "how far ahead the load is forecast (prediction_period_in_s)", "s")
    evaluation_interval: float = option(600.0, "from a change to the next evaluation (general.evalInt)", "s")
    averaging_window: float = option(120.0, "least time over which the input is averaged (general.avgWindow)", "s")
    scale_out_count: int = option(8, "scale-outs in the profile (general.scaleOutCount)")

    _profile: dict[int, float] = field(init=False, repr=False, default_factory=dict)
    _running: Mapping[str, int] | None = field(init=False, repr=False, default=None)
    _since: float = field(init=False, repr=False, default=0.0)

    def __post_init__(self) -> None:
        for name in ("max_recovery_time", "prediction_period"):
            if not 0 < getattr(self, name) < math.inf:
                raise InvalidValueError(name, f"must be positive, not {getattr(self, name)!r}")
        for name in ("downtime", "last_checkpoint", "evaluation_interval", "averaging_window"):
            check_required_number(name, getattr(self, name))
        check_whole("scale_out_count", self.scale_out_count, 2)

    # Learn -----------------------------------------------------------------------------------------------------

    def learn(self, observation: Observation) -> None:
        latest, topology = observation.latest, observation.topology
        running = {name: operator.parallelism for name, operator in latest.operators.items()}
        if running != self._running:
            self._running, self._since = running, latest.t
        scale_out = max(running.values())
        if running != at_scale_out(topology, scale_out):
            return
        try:
            throughput = sustainable(observation)
        except MissingFigureError:
            return  # `decide` says what is missing
        if throughput is not None:
            self._profile[scale_out] = throughput(running)

    # Decide ----------------------------------------------------------------------------------------------------

    def decide(self, observation: Observation) -> Decision:
        plan, topology, now = observation.plan, observation.topology, observation.latest.end
        least = max(operator.min for operator in topology.operators)
        most = max(least, *(topology.ceiling(name) for name in topology.names))
        throughput = sustainable(observation)
        if throughput is None:
            return Decision.move(plan, plan, "nothing comes, so that nothing shows what the job can do")
        if now - self._since < self.evaluation_interval - 1e-6:
            return Decision.move(plan, plan, f"it evaluates {self.evaluation_interval:.0f} s after a change")
        capacity = self._capacity(lambda scale_out: throughput(at_scale_out(topology, scale_out)), least, most)
        load, current = self._expected(observation), min(max(plan.widest, least), most)
        recovery = {s: self._recovery(load, now, capacity.at(s)) for s in range(least, most + 1)}
        best = self._best(recovery, current, rising=load.slope > 0)
        if current - best in NOT_WORTH_IT:
            best = current
        lasts = f"takes {recovery[current]:,.0f} s" if math.isfinite(recovery[current]) else "does not end"
        why = f"with {current} instances a recovery {lasts}, {self.max_recovery_time:.0f} s are allowed"
        shown = sorted({least, current, max(least, best - 1), best, most})
        figures = {
            "capacity": {str(s): capacity.at(s) for s in shown},
            "recovery_seconds": {str(s): recovery[s] if math.isfinite(recovery[s]) else None for s in shown},
            "best_scale_out": best,
            "expected_input_rate": max(0.0, load.at(now + self.prediction_period)),
        }
        return Decision.move(plan, plan.changed(at_scale_out(topology, best)), why, figures=figures)

    def _capacity(self, estimate: Callable[[int], float], least: int, most: int) -> Capacity:
        """The regression over a profile: what ran as it was measured, what did not as estimated."""
        step = (most - least) / (self.scale_out_count - 1)
        scale_outs = {round(least + i * step) for i in range(self.scale_out_count)}
        return Capacity.fit({**{scale_out: estimate(scale_out) for scale_out in sorted(scale_outs)}, **self._profile})

    def _expected(self, observation: Observation) -> Line:
        """The input rate by time: through the forecast where there is one, else the trend since the last change."""
        latest, now = observation.latest, observation.latest.end
        if observation.forecast is not None:
            rise = observation.forecast.input_rate - latest.offered_rate
            return Line(rise / latest.seconds, now, latest.offered_rate)
        seconds = max(self.averaging_window, min(now - self._since, self.evaluation_interval))
        recent = [sample for sample in observation.samples if sample.end > now - seconds] or [latest]
        return least_squares([(s.t + s.end) / 2 for s in recent], [s.offered_rate for s in recent])

    def _recovery(self, load: Line, now: float, capacity: float) -> float:
        def arrived(begin: float, end: float) -> float:
            return (end - begin) * max(0.0, load.at(now + (begin + end) / 2))

        return recovery_seconds(arrived, capacity, self.downtime, self.last_checkpoint, self.prediction_period)

    def _best(self, recovery: Mapping[int, float], current: int, *, rising: bool) -> int:
        valid = [s for s, seconds in recovery.items() if seconds < self.max_recovery_time]
        if rising and current in valid:
            return current
        if valid:
            return valid[0]
        shortest = min(recovery.values())
        return next(s for s, seconds in recovery.items() if seconds <= shortest * (1 + ALIKE))

    # Remember --------------------------------------------------------------------------------------------------

    def state(self) -> State:
        running = None if self._running is None else dict(self._running)
        return {"profile": [list(each) for each in self._profile.items()], "running": running, "since": self._since}

    def restore(self, state: Mapping[str, Any]) -> None:
        self._profile = dict(state["profile"])
        self._running, self._since = state["running"], state["since"]


def at_scale_out(topology: Topology, scale_out: int) -> dict[str, int]:
    """So many instances of every operator, as far as it may have them."""
    return {name: topology.clamp(name, scale_out) for name in topology.names}


def sustainable(observation: Observation) -> Callable[[Mapping[str, int]], float] | None:
    """The records/s that the job could take at a parallelism, by true rates; None while nothing comes."""
    rates, offered = true_rates(observation), observation.latest.offered_rate
    load = arriving(observation.topology, rates, input_rates(replace(observation, forecast=None)))
    return (lambda parallelism: offered * headroom(parallelism, rates, load)) if any(load.values()) else None
