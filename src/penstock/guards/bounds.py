"""No operator leaves its limits, and tied operators stay together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from penstock.guards import Guard
from penstock.guards._limits import inside
from penstock.guards._plans import differences
from penstock.model import Decision, Observation, ReasonCode


@dataclass(frozen=True)
class Bounds(Guard):
    """Keeps each operator between its min and max, and a root below the source's partition count.

    Operators that share a tie get one number: the largest asked for among them, inside the limits of all.
    """

    name: ClassVar[str] = "bounds"

    def vet(self, decision: Decision, observation: Observation) -> Decision:
        plan = inside(decision.plan, observation.topology)
        if plan == decision.plan:
            return decision
        text = f"the operators' limits and ties leave {differences(decision.plan, plan)}"
        return decision.vetted(self.name, ReasonCode.BOUNDS, text, plan)
