"""After a change, the plan is held until the effect can be measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from penstock.guards import TimedGuard
from penstock.model import Decision, Observation, ReasonCode
from penstock.model.options import option


@dataclass(frozen=True)
class Stabilisation(TimedGuard):
    """Holds the plan in force for some time after each change.

    Executors take a while to arrive and a restarted job to warm up: figures measured meanwhile describe neither
    the old plan nor the new one.
    """

    name: ClassVar[str] = "stabilisation"

    seconds: float = option(120.0, "how long the plan is held after a change; 0: not at all", "s")

    def vet(self, decision: Decision, observation: Observation) -> Decision:
        change = observation.last_change
        if change is None or decision.plan == observation.plan:
            return decision
        age = observation.t - change.t
        if age >= self.seconds:
            return decision
        text = f"the last change is {age:.0f} s old and has {self.seconds:.0f} s to settle"
        return decision.vetted(self.name, ReasonCode.STABILISING, text, observation.plan)
