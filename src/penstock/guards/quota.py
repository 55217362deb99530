"""The job may not take more slots than its quota."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from penstock.guards import Guard
from penstock.guards._limits import inside
from penstock.guards._plans import differences
from penstock.guards._share import cut_to
from penstock.model import Decision, Observation, ReasonCode
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

    def most_slots(self, observation: Observation) -> int | None:
        return self.slots

    def vet(self, decision: Decision, observation: Observation) -> Decision:
        topology, execution = observation.topology, observation.execution
        if self.slots is None or execution.slots(inside(decision.plan, topology), topology) <= self.slots:
            return decision
        plan = cut_to(self.slots, decision.plan, decision.wanted, topology, execution)
        if plan == decision.plan:
            return decision
        least = execution.slots(plan, topology)
        excuse = "" if least <= self.slots else f", and even the minima take {least}"
        text = f"the quota is {self.slots} slots{excuse}: {differences(decision.plan, plan)}"
        return decision.vetted(self.name, ReasonCode.QUOTA, text, plan)
