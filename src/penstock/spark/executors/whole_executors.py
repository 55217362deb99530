"""From a parallelism to executors.

A query that is steered by its executors is one operator whose parallelism is its slots. Policies plan slots; the
cluster gives and takes whole executors, and other queries of the application need some of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

from penstock.guards import Guard
from penstock.model import Decision, Observation, Plan, ReasonCode
from penstock.spark.executors.shared_slots import Share
from penstock.spark.measure.query_monitor import JOB

NEEDED = "needed_slots"
"""The figure of a decision that says how many slots the query needs, before they are rounded to executors."""


@dataclass(frozen=True)
class WholeExecutors(Guard):
    """Rounds the slots that a policy wants up to whole executors, and writes their number into the plan.

    share  what the query may have now; it does not change during a cycle
    """

    share: Callable[[], Share]

    name: ClassVar[str] = "whole_executors"

    def vet(self, decision: Decision, observation: Observation) -> Decision:
        asked, share = decision.plan[JOB], self.share()
        plan = share.plan(share.executors(asked))
        decision = replace(decision, figures={**decision.figures, NEEDED: asked})
        if plan[JOB] == asked:
            return replace(decision, plan=plan)
        return decision.vetted(self.name, ReasonCode.BOUNDS, _why(asked, share, plan), plan)


def _why(asked: int, share: Share, plan: Plan) -> str:
    if plan.executors == share.kept:
        return f"nothing shrinks while it is not known what another query needs: {plan.executors} executors"
    besides = f" and {share.others} of other queries" if share.others else ""
    return f"executors have {share.slots_each} slots each: {asked} slots{besides} are {plan.executors} of them"
