"""How fast Kubernetes lets a number of replicas change: stabilisation windows and scaling policies.

A horizontal autoscaler first recommends a number of replicas (its metric decides how), then

    stabilises  it goes no lower than the highest recommendation of the last `scale_down_stabilization_window_seconds`
                and no higher than the lowest of the last `scale_up_stabilization_window_seconds`
    limits      a policy such as ("Percent", 100, 15) allows a change of 100 % of the replicas within 15 s, ("Pods", 4,
                15) one of 4; several are combined as `select_policy` says

Source: Kubernetes, pkg/controller/podautoscaler/horizontal.go (stabilizeRecommendationWithBehaviors,
convertDesiredReplicasWithBehaviorRate), with the defaults that its documentation gives under "Default Behavior".

What differs here: every operator is a workload of its own, its min and max are the autoscaler's, and the loop's
interval is the sync period. Pods that are not ready do not exist: windows of warming up are left out of the samples.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from penstock.model import Decision, InvalidValueError, MissingFigureError, Observation
from penstock.model.errors import check_choice, check_required_number, check_whole
from penstock.model.options import option
from penstock.policies import Policy, State

SELECT = ("Max", "Min", "Disabled")
KINDS = ("Pods", "Percent")

ScalingPolicy = tuple[str, int, float]
"""A kind, a value, and a period in seconds."""
Dated = tuple[float, int]
"""When, and how many replicas: recommended, or added (removed if negative)."""


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The replicas that a metric asks for, by operator, and why."""

    replicas: Mapping[str, int]
    why: str
    figures: Mapping[str, Any]


@dataclass
class ReplicaScaler(Policy):
    """What every autoscaler of replicas shares: `_recommend` is its own, the behaviour is Kubernetes'."""

    tolerance: float = option(
        0.1, "the metric may be off its target by this much (--horizontal-pod-autoscaler-tolerance)", "ratio"
    )
    scale_up_tolerance: float | None = option(
        None, "the same above the target alone (behavior.scaleUp.tolerance); none: as tolerance", "ratio"
    )
    scale_down_tolerance: float | None = option(
        None, "the same below the target alone (behavior.scaleDown.tolerance); none: as tolerance", "ratio"
    )
    scale_up_stabilization_window_seconds: float = option(
        0.0, "nothing grows beyond the lowest recommendation so far back (behavior.scaleUp)", "s"
    )
    scale_down_stabilization_window_seconds: float = option(
        300.0, "nothing shrinks below the highest recommendation so far back (behavior.scaleDown)", "s"
    )
    scale_up_policies: tuple[tuple[str, int, float], ...] = option(
        (("Pods", 4, 15.0), ("Percent", 100, 15.0)),
        "how much may be added: kind, value and periodSeconds of each policy (behavior.scaleUp.policies)",
    )
    scale_down_policies: tuple[tuple[str, int, float], ...] = option(
        (("Percent", 100, 15.0),),
        "how much may be removed: kind, value and periodSeconds of each policy (behavior.scaleDown.policies)",
    )
    scale_up_select_policy: str = option(
        "Max", "the policy that counts: Max, Min, or Disabled (behavior.scaleUp.selectPolicy)"
    )
    scale_down_select_policy: str = option(
        "Max", "the policy that counts: Max, Min, or Disabled (behavior.scaleDown.selectPolicy)"
    )

    _recommended: dict[str, list[Dated]] = field(init=False, repr=False, default_factory=dict)
    _changed: dict[str, list[Dated]] = field(init=False, repr=False, default_factory=dict)
    _seen: tuple[float, Mapping[str, int]] | None = field(init=False, repr=False, default=None)

    def __post_init__(self) -> None:
        for name in ("tolerance", "scale_up_tolerance", "scale_down_tolerance"):
            if getattr(self, name) is not None:
                check_required_number(name, getattr(self, name))
        for way in ("up", "down"):
            check_required_number(
                f"scale_{way}_stabilization_window_seconds", getattr(self, f"scale_{way}_stabilization_window_seconds")
            )
            check_choice(f"scale_{way}_select_policy", getattr(self, f"scale_{way}_select_policy"), SELECT)
            _check_policies(f"scale_{way}_policies", getattr(self, f"scale_{way}_policies"))

    @abstractmethod
    def _recommend(self, observation: Observation) -> Recommendation:
        """What the metric asks for now, before anything limits it; raises MissingFigureError."""

    def _within_tolerance(self, usage_ratio: float) -> bool:
        """Whether a metric is so near its target (1) that nothing changes."""
        below = self.tolerance if self.scale_down_tolerance is None else self.scale_down_tolerance
        above = self.tolerance if self.scale_up_tolerance is None else self.scale_up_tolerance
        return 1.0 - below <= usage_ratio <= 1.0 + above

    def learn(self, observation: Observation) -> None:
        now, plan = observation.latest.end, observation.plan.parallelism
        if self._seen is not None:
            then, before = self._seen
            for name in plan:
                if plan[name] != before.get(name, plan[name]):  # decided when the window before this one had ended
                    self._changed.setdefault(name, []).append((then, plan[name] - before[name]))
        self._seen = (now, plan)
        try:
            recommendation = self._recommend(observation)
        except MissingFigureError:
            return  # `decide` says what is missing
        windows = (self.scale_up_stabilization_window_seconds, self.scale_down_stabilization_window_seconds)
        periods = [period for _, _, period in (*self.scale_up_policies, *self.scale_down_policies)]
        for name, replicas in recommendation.replicas.items():
            earlier = self._recommendations(name, plan[name], now)
            self._recommended[name] = [*since(now - max(windows), earlier), (now, replicas)]
            self._changed[name] = since(now - max(periods), self._changed.get(name, ()))

    def decide(self, observation: Observation) -> Decision:
        topology, plan, now = observation.topology, observation.plan, observation.latest.end
        recommendation = self._recommend(observation)
        stabilised, limited = {}, {}
        for name in topology.names:
            stabilised[name] = self._stabilised(name, recommendation.replicas[name], plan[name], now)
            limited[name] = self._limited(name, stabilised[name], plan[name], now)
        target = plan.changed({name: topology.clamp(name, k) for name, k in limited.items()})
        figures = {
            **recommendation.figures,
            "recommended": dict(recommendation.replicas), "stabilised": stabilised, "limited": limited,
        }  # fmt: skip
        return Decision.move(plan, target, recommendation.why, figures=figures)

    def _stabilised(self, name: str, desired: int, current: int, now: float) -> int:
        recent = self._recommendations(name, current, now)
        up = since(now - self.scale_up_stabilization_window_seconds, recent)
        down = since(now - self.scale_down_stabilization_window_seconds, recent)
        lowest = min((desired, *(replicas for _, replicas in up)))
        highest = max((desired, *(replicas for _, replicas in down)))
        return min(max(current, lowest), highest)

    def _recommendations(self, name: str, current: int, now: float) -> Sequence[Dated]:
        """What was recommended so far; an operator that is seen first counts as one that should stay as it is."""
        return self._recommended.get(name) or ((now, current),)

    def _limited(self, name: str, desired: int, current: int, now: float) -> int:
        changed = self._changed.get(name, ())
        if desired > current:
            most = limit(self.scale_up_policies, self.scale_up_select_policy, current, changed, now, up=True)
            return min(desired, max(most, current))
        if desired < current:
            least = limit(self.scale_down_policies, self.scale_down_select_policy, current, changed, now, up=False)
            return max(desired, min(least, current))
        return current

    def state(self) -> State:
        return {
            "recommended": {name: [list(each) for each in dated] for name, dated in self._recommended.items()},
            "changed": {name: [list(each) for each in dated] for name, dated in self._changed.items()},
            "seen": None if self._seen is None else [self._seen[0], dict(self._seen[1])],
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        self._recommended = {name: [(t, k) for t, k in dated] for name, dated in state["recommended"].items()}
        self._changed = {name: [(t, k) for t, k in dated] for name, dated in state["changed"].items()}
        self._seen = None if state["seen"] is None else (state["seen"][0], state["seen"][1])


def limit(
    policies: Iterable[ScalingPolicy], select: str, current: int, changed: Iterable[Dated], now: float, *, up: bool
) -> int:
    """The replicas beyond which a change may not go now.

    >>> both = (("Pods", 4, 15.0), ("Percent", 100, 15.0))
    >>> [limit(both, select, 10, (), 0.0, up=True) for select in SELECT]
    [20, 14, 10]
    >>> limit(both, "Max", 20, [(-10.0, 10)], 0.0, up=True)  # it had 10 within the period
    20
    """
    if select == "Disabled":
        return current
    changed = tuple(changed)
    proposed = []
    for kind, value, period in policies:
        start = current - sum(change for _, change in since(now - period, changed))
        if kind == "Pods":
            proposed.append(start + value if up else start - value)
        else:
            proposed.append(math.ceil(start * (1 + value / 100)) if up else int(start * (1 - value / 100)))
    return max(proposed) if (select == "Max") is up else min(proposed)


def since(t: float, dated: Iterable[Dated]) -> list[Dated]:
    return [each for each in dated if each[0] > t]


def _check_policies(field: str, policies: Sequence[ScalingPolicy]) -> None:
    if not policies:
        raise InvalidValueError(field, "must hold at least one policy; to forbid changes, select Disabled")
    for kind, value, period in policies:
        check_choice(f"{field}: kind", kind, KINDS)
        check_whole(f"{field}: value", value, 1)
        check_required_number(f"{field}: period", period)
