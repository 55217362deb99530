"""Utilisation between two thresholds: the rule that most clusters ship with.

For each operator, with k instances in the plan in force:

    busy         useful seconds / seconds of the newest window: how many instances were busy on average
    utilisation  busy / k
    wanted       ceil(busy / target), if utilisation is below `low` or has reached `high`; else k

`busy / target` is k * utilisation / target, the proportional rule of Kubernetes' horizontal autoscaler; the band
between `low` and `high` is its tolerance. A job that falls behind while no operator looks busy (a slow sink, a lock)
has a bottleneck that utilisation does not show: if the backlog grew, the busiest operator counts as at `high` at least.

An operator that is busy all the time hides how much more it would need, so one step grows it by 1 / target at most.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from penstock.model import Decision, InvalidValueError, MissingFigureError, Observation, Sample
from penstock.model.errors import check_number
from penstock.model.options import option
from penstock.performance.true_rates import instances
from penstock.policies import Policy


@dataclass(frozen=True)
class Threshold(Policy):
    """Grows an operator that is too busy and shrinks one that is too idle, in proportion, each on its own."""

    name: ClassVar[str] = "threshold"
    source: ClassVar[str] = "the utilisation baseline, with the proportional rule of Kubernetes' autoscaler"

    high: float = option(0.8, "utilisation from which an operator grows", "ratio")
    target: float = option(0.6, "utilisation that growing and shrinking aim at", "ratio")
    low: float = option(0.3, "utilisation below which an operator shrinks", "ratio")
    backlog_growth: float | None = option(
        0.05, "growth of the backlog, as a share of the input, that counts as falling behind; none: never", "ratio"
    )

    def __post_init__(self) -> None:
        if not 0 < self.high <= 1:
            raise InvalidValueError("high", f"must be more than 0 and at most 1, not {self.high!r}")
        if not 0 < self.target < self.high:
            raise InvalidValueError("target", f"must be between 0 and high ({self.high:g}), not {self.target!r}")
        if not 0 <= self.low < self.target:
            raise InvalidValueError("low", f"must be between 0 and target ({self.target:g}), not {self.low!r}")
        check_number("backlog_growth", self.backlog_growth)

    @property
    def utilisation(self) -> float:
        return self.high

    def decide(self, observation: Observation) -> Decision:
        topology, plan = observation.topology, observation.plan
        busy = {name: _busy(observation.latest, name) for name in topology.names}
        utilisation = {name: busy[name] / plan[name] for name in topology.names}
        busiest = max(topology.names, key=lambda name: utilisation[name])
        behind = self._falls_behind(observation)
        counted = utilisation | ({busiest: max(utilisation[busiest], self.high)} if behind else {})
        wanted = {name: self._wanted(plan[name], counted[name]) for name in topology.names}
        target = plan.changed({name: topology.clamp(name, k) for name, k in wanted.items()})
        why = f"{busiest} is busy {utilisation[busiest]:.0%} of the time" + (" and the backlog grows" if behind else "")
        figures = {"utilisation": utilisation, "busy_instances": busy, "falls_behind": behind, "wanted": wanted}
        return Decision.move(plan, target, why, figures=figures)

    def _wanted(self, k: int, utilisation: float) -> int:
        return k if self.low <= utilisation < self.high else instances(k * utilisation, self.target)

    def _falls_behind(self, observation: Observation) -> bool:
        """Whether the backlog grew over the newest window by more than `backlog_growth` allows."""
        if self.backlog_growth is None or len(observation.samples) < 2:
            return False
        before, latest = observation.samples[-2:]
        if latest.t - before.end > latest.seconds / 2:  # growth over a gap in the measurements proves nothing
            return False
        growth = _backlog(latest) - _backlog(before)
        return growth > self.backlog_growth * latest.offered_rate * latest.seconds


def _busy(sample: Sample, name: str) -> float:
    operator = sample.operators.get(name)
    if operator is None or operator.useful_seconds is None:
        raise MissingFigureError("useful_seconds", name)
    return operator.useful_seconds / sample.seconds


def _backlog(sample: Sample) -> float:
    if sample.backlog is None:
        raise MissingFigureError("backlog")
    return sample.backlog
