"""From a parallelism to executors.

An attached job is one operator whose parallelism is its slots. Policies plan slots; the cluster gives and takes whole
executors.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

from penstock.guards import Guard
from penstock.model import Decision, Observation, Operator, Plan, ReasonCode, Topology
from penstock.spark.measure.query_monitor import JOB


@dataclass(frozen=True)
class WholeExecutors(Guard):
    """Rounds the slots that a policy wants up to whole executors, and writes their number into the plan.

    >>> two_slots_each = WholeExecutors(2)
    >>> str(two_slots_each.plan(3)), two_slots_each.executors(5)
    ('job 6; 3 executors', 3)
    """

    slots_each: int

    name: ClassVar[str] = "whole_executors"

    def executors(self, slots: int) -> int:
        return math.ceil(slots / self.slots_each)

    def plan(self, executors: int) -> Plan:
        return Plan({JOB: executors * self.slots_each}, executors)

    def topology(self, least: int, most: int) -> Topology:
        return Topology((Operator(JOB, min=least * self.slots_each, max=most * self.slots_each),))

    def vet(self, decision: Decision, observation: Observation) -> Decision:
        asked = decision.plan[JOB]
        plan = self.plan(self.executors(asked))
        if plan[JOB] == asked:
            return replace(decision, plan=plan)
        text = f"executors have {self.slots_each} slots each: {asked} slots are {plan.executors} of them"
        return decision.vetted(self.name, ReasonCode.BOUNDS, text, plan)
