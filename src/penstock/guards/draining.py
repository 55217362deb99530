"""No shrinking while a backlog drains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from penstock.guards import Guard
from penstock.guards._plans import at_least, differences, rolled_back
from penstock.model import Decision, Observation, ReasonCode


@dataclass(frozen=True)
class Draining(Guard):
    """Lets nothing shrink while more waits in the source than the latency target tolerates.

    What the input alone needs is too little then: the backlog has to go as well. A backlog that was not measured
    blocks nothing, and neither does a return to an earlier plan.
    """

    name: ClassVar[str] = "draining"

    def vet(self, decision: Decision, observation: Observation) -> Decision:
        latest = observation.latest
        if rolled_back(decision) or "keep_up" not in observation.slo.violations(latest):
            return decision
        plan = at_least(decision.plan, observation.plan)
        if plan == decision.plan:
            return decision
        text = f"{latest.backlog:,.0f} records still wait in the source: {differences(decision.plan, plan)}"
        return decision.vetted(self.name, ReasonCode.DRAINING, text, plan)
