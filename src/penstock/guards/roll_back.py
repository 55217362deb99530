"""A change that made the job worse is taken back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from penstock.guards import Guard
from penstock.guards._evidence import (
    LATENCY_TARGETS,
    Windows,
    decided_on,
    input_rate,
    latency_ms,
    latency_ratio,
    throughput,
)
from penstock.guards._plans import grown, parts, rolled_back, size
from penstock.model import Cycle, Decision, Observation, Plan, ReasonCode, Slo
from penstock.model.errors import check_number, check_whole
from penstock.model.options import option

WORKED_OFF_SECONDS = 1.0
"""A backlog that fell by more than this many seconds of input was worked off, not a matter of chance."""


@dataclass(frozen=True)
class RollBack(Guard):
    """Returns to the plan before the last change if that change made the job worse, and keeps from repeating it.

    Let *before* be the windows that the change was decided on and *after* the newest `samples` windows measured since
    it is in force. The change is taken back within `trial_seconds` if all of this holds:

    - the job still runs with the plan of that change, which was not itself a roll-back;
    - every window after misses a target, at an input rate of at most (1 + tolerance) times the one before;
    - it is not catching up: neither the backlog nor, where only that is missed, the event latency falls; where it keeps
      up with its input again and a latency is still missed, a backlog that fell by a second of input counts;
    - no window before missed a target, and before a growth throughput had met the input: a job that was falling behind
      does so until the growth has caught up. Or all missed one, and the processing latency is more than `worse_factor`
      times what it was while throughput rose by no more than `tolerance`. If no window missed "keep up", the event
      latency counts as well; behind a backlog it rises by itself, whatever the plan.

    A decision that itself undoes a shrinking, or grows beyond it, passes: in a surge the earlier plan would only be an
    intermediate step.

    For `seconds` after a roll-back, a plan that goes as far as the bad one, or further, in all that the bad one had
    changed is not tried again, unless it grows because the input has risen by more than `tolerance`.
    """

    name: ClassVar[str] = "roll_back"

    samples: int = option(3, "windows that must agree before a change is taken back", "windows")
    tolerance: float = option(0.1, "rise of the input rate that does not excuse a worse result", "ratio")
    worse_factor: float = option(1.5, "times the latency before, for a job that had missed its target already", "ratio")
    trial_seconds: float = option(900.0, "how long a change is held responsible for what follows", "s")
    seconds: float = option(1800.0, "how long a plan that proved bad is not tried again", "s")

    def __post_init__(self) -> None:
        check_whole("samples", self.samples, 1)
        check_number("tolerance", self.tolerance)
        check_number("worse_factor", self.worse_factor, 1.0)
        check_number("trial_seconds", self.trial_seconds)
        check_number("seconds", self.seconds)

    @property
    def memory_seconds(self) -> float:
        return max(self.trial_seconds, self.seconds)

    def vet(self, decision: Decision, observation: Observation) -> Decision:
        change = observation.last_change
        if change is not None and self._made_worse(change, observation):
            plan = change.before
            if _undone(decision.plan, change):
                return decision
            text = f"the change to {change.decision.plan} made the job worse: back to {plan}"
        elif bad := self._proved_bad(decision.plan, observation):
            plan = observation.plan
            text = f"{bad} made the job worse less than {self.seconds:.0f} s ago"
        else:
            return decision
        return decision if plan == decision.plan else decision.vetted(self.name, ReasonCode.ROLL_BACK, text, plan)

    def _made_worse(self, change: Cycle, observation: Observation) -> bool:
        in_force = change.decision.plan.parallelism == observation.plan.parallelism
        if not in_force or rolled_back(change.decision) or observation.t - change.t >= self.trial_seconds:
            return False
        slo, before, after = observation.slo, decided_on(change), observation.since(change.in_force_at)[-self.samples :]
        if not before or len(after) < self.samples or not all(slo.violations(window) for window in after):
            return False
        if not self._as_light(before, after) or _catches_up(after, slo):
            return False
        missed_before = [bool(slo.violations(window)) for window in before]
        if any(missed_before):
            return all(missed_before) and self._slower(before, after, slo)
        return not grown(change.before, change.decision.plan) or self._kept_up(before)

    def _kept_up(self, windows: Windows) -> bool:
        """Whether throughput met the input; False where one of them was not measured."""
        rate, flow = input_rate(windows), throughput(windows)
        return rate is not None and flow is not None and flow * (1.0 + self.tolerance) >= rate

    def _as_light(self, before: Windows, after: Windows) -> bool:
        """Whether the input rate has not risen by more than the tolerance; False where it was not measured."""
        rate_before, rate_after = input_rate(before), input_rate(after)
        return rate_before is not None and rate_after is not None and rate_after <= rate_before * (1.0 + self.tolerance)

    def _slower(self, before: Windows, after: Windows, slo: Slo) -> bool:
        flow_before, flow_after = throughput(before), throughput(after)
        if flow_before is None or flow_after is None or flow_after > flow_before * (1.0 + self.tolerance):
            return False
        keeps_up = not any("keep_up" in slo.violations(window) for window in before + after)
        targets = LATENCY_TARGETS if keeps_up else ("processing_latency",)
        ratios = (latency_ratio(before, after, target, slo) for target in targets)
        return any(ratio is not None and ratio > self.worse_factor for ratio in ratios)

    def _proved_bad(self, plan: Plan, observation: Observation) -> Plan | None:
        """The plan that was recently taken back and that `plan` would repeat."""
        if plan == observation.plan:
            return None
        for cycle in reversed(observation.history):
            if cycle.changed and rolled_back(cycle.decision) and observation.t - cycle.t < self.seconds:
                risen = not self._as_light(decided_on(cycle), observation.samples[-self.samples :])
                if _repeats(plan, cycle) and not (risen and grown(observation.plan, plan)):
                    return cycle.before
        return None


def _undone(wish: Plan, change: Cycle) -> bool:
    """Whether a change only shrank and `wish` is at least as large as the plan before it, in every part."""
    return not grown(change.before, change.decision.plan) and not grown(wish, change.before)


def _catches_up(windows: Windows, slo: Slo) -> bool:
    """Whether a job that fell behind, because of a restart for example, works off its backlog.

    Records are late until the last of those that waited has left, while the backlog may already be tolerable or gone.
    """
    missed = slo.violations(windows[-1])
    fell = _fell(windows[0].backlog, windows[-1].backlog)
    if "keep_up" in missed:
        return fell > 0
    if fell > WORKED_OFF_SECONDS * (input_rate(windows) or 0.0):
        return True
    if "event_latency" not in missed:
        return False
    first, last = latency_ms(windows[:1], "event_latency", slo), latency_ms(windows[-1:], "event_latency", slo)
    return _fell(first, last) > 0


def _fell(first: float | None, last: float | None) -> float:
    """By how much a figure fell; 0 where it was not measured."""
    return 0.0 if first is None or last is None else first - last


def _repeats(plan: Plan, roll_back: Cycle) -> bool:
    """Whether a plan goes as far from the good plan as the bad one did, in every part that differed."""
    good, bad = roll_back.decision.plan, roll_back.before
    if plan == bad:
        return True
    if plan.parallelism.keys() != bad.parallelism.keys():  # the job had other operators then
        return False
    sizes = ((size(good, part) or 0, size(bad, part) or 0, size(plan, part) or 0) for part in parts(bad))
    moves = [(was, went, goes) for was, went, goes in sizes if was != went]
    return bool(moves) and all(goes >= went if went > was else goes <= went for was, went, goes in moves)
