"""Keeps plans inside the executors that the job may have, and writes their number into the plan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

from penstock.guards import Guard
from penstock.guards._plans import differences
from penstock.guards._share import cut_to
from penstock.model import Decision, Observation, Plan, ReasonCode
from penstock.spark.executors.slots import SlotSupplier


@dataclass(frozen=True)
class ExecutorLimit(Guard):
    """Gives a plan the executors that it needs. One that needs more than the most is cut as a quota cuts it.

    slots         where the job gets its slots from
    slots_needed  what the engine needs for a plan; whatever is beyond its instances is the same for every plan
    """

    slots: SlotSupplier
    slots_needed: Callable[[Plan], int]

    name: ClassVar[str] = "executors"

    def vet(self, decision: Decision, observation: Observation) -> Decision:
        asked, execution, most = decision.plan, observation.execution, self.slots.most_slots()
        needed = self.slots_needed(asked)
        if needed <= most:
            return replace(decision, plan=self._with_executors(asked))
        others = needed - execution.slots(asked)
        plan = self._with_executors(
            cut_to(most - others, asked, decision.wanted, observation.topology, execution)
        )  # fmt: skip
        if plan.parallelism == asked.parallelism:
            return replace(decision, plan=plan)
        taken = f", of which readers and shuffles take {others}" if others else ""
        excuse = f", and even the minima need {least}" if (least := self.slots_needed(plan)) > most else ""
        text = f"the most executors ({plan.executors}) have {most} slots{taken}{excuse}: {_instances(asked, plan)}"
        return decision.vetted(self.name, ReasonCode.QUOTA, text, plan)

    def _with_executors(self, plan: Plan) -> Plan:
        executors = self.slots.executors_for(self.slots_needed(plan))
        return plan if plan.executors == executors else replace(plan, executors=executors)


def _instances(asked: Plan, granted: Plan) -> str:
    return differences(replace(asked, executors=None), replace(granted, executors=None))
