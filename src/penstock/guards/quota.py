"""The job may not take more slots than its quota."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from penstock.guards import Guard
from penstock.guards._limits import Group, groups, inside
from penstock.guards._plans import differences
from penstock.model import Decision, Execution, Observation, Plan, ReasonCode, Topology
from penstock.model.errors import check_whole
from penstock.model.options import option


@dataclass(frozen=True)
class Quota(Guard):
    """Keeps the slots that a plan takes, by the engine's own count, at or below a quota.

    Every operator is left at least the same share of what the policy wanted for it, the largest that fits (never below
    its min, never above what was asked), so that none becomes the bottleneck alone; instances left over go one by one
    to the operator with the smallest share. Tied operators are cut as one. Where even the minima take more than the
    quota, they are the plan.
    """

    name: ClassVar[str] = "quota"

    slots: int | None = option(None, "most slots that the job may take; nothing: no quota", "slots")

    def __post_init__(self) -> None:
        if self.slots is not None:
            check_whole("slots", self.slots, 1)

    def vet(self, decision: Decision, observation: Observation) -> Decision:
        topology, execution = observation.topology, observation.execution
        asked = inside(decision.plan, topology)
        if self.slots is None or execution.slots(asked) <= self.slots:
            return decision
        if execution is Execution.SEQUENTIAL:
            plan = inside(asked.changed({name: min(k, self.slots) for name, k in asked.parallelism.items()}), topology)
        else:
            plan = asked.changed(_shared_out(self.slots, asked, inside(decision.wanted, topology), topology))
        if plan == decision.plan:
            return decision
        least = execution.slots(plan)
        excuse = "" if least <= self.slots else f", and even the minima take {least}"
        text = f"the quota is {self.slots} slots{excuse}: {differences(decision.plan, plan)}"
        return decision.vetted(self.name, ReasonCode.QUOTA, text, plan)


def _shared_out(slots: int, asked: Plan, needed: Plan, topology: Topology) -> dict[str, int]:
    """Parallelism for each operator, at the largest common share of `needed` that the slots allow."""
    tied = groups(topology)
    need = {group: needed[group.names[0]] for group in tied}
    most = {group: asked[group.names[0]] for group in tied}
    whole = max(need.values())  # a share is level / whole: fine enough that a level adds at most one to any group

    def at(level: int) -> dict[Group, int]:
        return {g: min(max(_rounded_up(need[g] * level, whole), g.least), most[g]) for g in tied}

    highest = max(_rounded_up(most[group] * whole, need[group]) for group in tied)
    level = bisect_right(range(highest + 1), slots, key=lambda level: _cost(at(level))) - 1
    granted = at(max(level, 0))
    spare = slots - _cost(granted)
    # Less than one level is left to hand out, so this ends after one instance for each group.
    while fitting := [group for group in tied if granted[group] < most[group] and len(group.names) <= spare]:
        poorest = min(fitting, key=lambda group: granted[group] / need[group])
        granted[poorest] += 1
        spare -= len(poorest.names)
    return {name: k for group, k in granted.items() for name in group.names}


def _rounded_up(dividend: int, divisor: int) -> int:
    return -(-dividend // divisor)


def _cost(parallelism: Mapping[Group, int]) -> int:
    return sum(k * len(group.names) for group, k in parallelism.items())
