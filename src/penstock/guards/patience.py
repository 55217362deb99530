"""A job shrinks only to a size that sufficed for a while."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from penstock.guards import TimedGuard
from penstock.guards._plans import Part, differences, resized, rolled_back, size
from penstock.model import Cycle, Decision, Observation, Origin, ReasonCode
from penstock.model.options import option


@dataclass(frozen=True)
class Patience(TimedGuard):
    """Lets a part shrink no lower than the largest need that the policy saw in the last `seconds`.

    A lull of a minute is not a reason to give up what the next minute needs again. Growth passes. Nothing shrinks
    before this policy's decisions cover the whole window; cycles without one, for lack of metrics, do not count. A
    return to an earlier plan passes too.
    """

    name: ClassVar[str] = "patience"

    seconds: float = option(300.0, "how long a smaller plan must have sufficed; 0: not at all", "s")

    def vet(self, decision: Decision, observation: Observation) -> Decision:
        if self.seconds == 0 or rolled_back(decision):
            return decision
        needs = self._needs(decision, observation)
        plan = resized(decision.plan, lambda part, k: max(k, _lowest(part, k, needs, observation)))
        if plan == decision.plan:
            return decision
        since = (
            f"needed within the last {self.seconds:.0f} s" if needs else f"watched for less than {self.seconds:.0f} s"
        )
        return decision.vetted(self.name, ReasonCode.PATIENCE, f"{since}: {differences(decision.plan, plan)}", plan)

    def _needs(self, decision: Decision, observation: Observation) -> tuple[Decision, ...]:
        """The policy's decisions over the window, the present one included; empty if they do not cover it yet."""
        informed = [cycle for cycle in observation.history if _is_informed(cycle, decision)]
        begin = observation.t - self.seconds
        if not informed or informed[0].t > begin:
            return ()
        return (*(cycle.decision for cycle in informed if cycle.t >= begin), decision)


def _is_informed(cycle: Cycle, decision: Decision) -> bool:
    """Whether a cycle holds a decision of this policy on this job, with the same operators; not a hold of the loop."""
    earlier = cycle.decision
    same_job = earlier.plan.parallelism.keys() == decision.plan.parallelism.keys()
    return same_job and earlier.policy == decision.policy and earlier.reason.code.origin is not Origin.LOOP


def _lowest(part: Part, asked: int, needs: tuple[Decision, ...], observation: Observation) -> int:
    """The smallest size a part may have: its present one, or the largest need if that is less."""
    present = size(observation.plan, part)
    if present is None:
        return asked
    if not needs:
        return present
    return min(present, max(size(need.wanted, part) or 0 for need in needs))
