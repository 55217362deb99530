"""Keeps plans inside the executors that the job may have, and writes their number into the plan.

The state of a native query has a partition for each slot of its executors: they are paid for whole, and to repartition
the state for a part of one would stop the query for nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

from penstock.guards import Guard
from penstock.guards._plans import differences
from penstock.guards._share import cut_to
from penstock.model import Actuation, Decision, Observation, Plan, ReasonCode, Topology
from penstock.spark.executors.slots import SlotSupplier


@dataclass(frozen=True)
class ExecutorLimit(Guard):
    """Gives a plan the executors that it needs, and state all their slots. One that needs more than the most is cut as
    a quota cuts it; where the plan in force leaves every operator as much of what was wanted, it stays.

    slots         where the job gets its slots from
    slots_needed  what the engine needs for a plan: readers and shuffles take slots too, and instances may share one
    """

    slots: SlotSupplier
    slots_needed: Callable[[Plan], int]

    name: ClassVar[str] = "executors"

    def most_slots(self, observation: Observation) -> int | None:
        """Those of the most executors, without what readers and shuffles of the plan in force take beside it."""
        present, topology = observation.plan, observation.topology
        others = self.slots_needed(present) - observation.execution.slots(present, topology)
        return self.slots.most_slots() - others

    def vet(self, decision: Decision, observation: Observation) -> Decision:
        asked, topology, most = decision.plan, observation.topology, self.slots.most_slots()
        needed = self.slots_needed(asked)
        if needed <= most:
            plan = self._with_executors(self.filled(asked, topology))
            if plan.parallelism == asked.parallelism:
                return replace(decision, plan=plan)
            text = f"all slots of the executors ({plan.executors}) are used: {_instances(asked, plan)}"
            return decision.vetted(self.name, ReasonCode.BOUNDS, text, plan)
        execution = observation.execution
        others = needed - execution.slots(asked, topology)
        room = most - others
        cut = cut_to(room, asked, decision.wanted, topology, execution)
        while self.slots_needed(cut) > most and room > 0:  # what was cut may share fewer slots than what was asked
            room -= 1
            cut = cut_to(room, asked, decision.wanted, topology, execution)
        present = asked.changed({name: observation.plan[name] for name in topology.names})
        if self.slots_needed(present) <= most and _share(present, decision.wanted) >= _share(cut, decision.wanted):
            cut = present  # a change to less, where more was wanted
        plan = self._with_executors(self.filled(cut, topology))
        if plan.parallelism == asked.parallelism:
            return replace(decision, plan=plan)
        taken = f", of which readers and shuffles take {others}" if others > 0 else ""
        excuse = f", and even the minima need {least}" if (least := self.slots_needed(plan)) > most else ""
        text = f"the most executors ({plan.executors}) have {most} slots{taken}{excuse}: {_instances(asked, plan)}"
        return decision.vetted(self.name, ReasonCode.QUOTA, text, plan)

    def filled(self, plan: Plan, topology: Topology) -> Plan:
        """The plan with partitions of state in all slots of its executors."""
        state = [each.name for each in topology.operators if each.actuation is Actuation.STATE_REPARTITION]
        if not state:
            return plan
        slots = self.slots.slots_for(self.slots_needed(plan))
        return plan.changed({name: topology.clamp(name, max(plan[name], slots)) for name in state})

    def _with_executors(self, plan: Plan) -> Plan:
        executors = self.slots.executors_for(self.slots_needed(plan))
        return plan if plan.executors == executors else replace(plan, executors=executors)


def _share(plan: Plan, wanted: Plan) -> float:
    """The smallest part of what was wanted that a plan leaves an operator."""
    return min(plan[name] / k for name, k in wanted.parallelism.items())


def _instances(asked: Plan, granted: Plan) -> str:
    return differences(replace(asked, executors=None), replace(granted, executors=None))
