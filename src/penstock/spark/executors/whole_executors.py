"""From a parallelism to executors: the one place that knows how the two hang together.

An attached job is one operator whose parallelism is its slots. Policies think in slots; the cluster gives and takes
whole executors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import ClassVar

from penstock.control.ports import Actuator, Clock
from penstock.guards import Guard
from penstock.model import Decision, Observation, Operator, Plan, ReasonCode, Topology
from penstock.spark.executors.executors import Executors, ExecutorsError
from penstock.spark.measure.query_monitor import JOB


@dataclass(frozen=True)
class WholeExecutors(Guard):
    """Rounds the slots that a policy asks for up to whole executors, and writes their number into the plan.

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


class ExecutorActuator(Actuator):
    """Brings the executors to the number in the plan.

    What the cluster gives is kept, even if it is less than was asked for: a job that falls behind is better served
    by some executors than by none. `plan` tells what is really asked for then.
    """

    def __init__(
        self,
        executors: Executors,
        whole: WholeExecutors,
        clock: Clock,
        wait_seconds: float,
        holders: Callable[[], Collection[str]] = tuple,
    ) -> None:
        self._executors = executors
        self._whole = whole
        self._clock = clock
        self._wait_seconds = wait_seconds
        self._holders = holders
        self.settled_at = 0.0
        self.given_up = False

    def plan(self) -> Plan:
        """What was last asked for. An executor that was lost is the cluster manager's to replace, and no change."""
        return self._whole.plan(self._executors.requested or max(1, len(self._executors.present())))

    def apply(self, plan: Plan) -> None:
        target, present = self._whole.executors(plan[JOB]), len(self._executors.present())
        if target < present:
            self._executors.release(present - target, self._holders())
        else:
            self._executors.request(target)
            self._wait(plan[JOB])
        self.settled_at = self._clock.now()

    def _wait(self, slots: int) -> None:
        try:
            self._executors.wait_for(slots, self._wait_seconds, lambda: self.given_up)
        except ExecutorsError:
            self._executors.request(max(1, len(self._executors.present())))
            self.settled_at = self._clock.now()
            raise
