"""Brings the executors of an application to the number in a plan."""

from __future__ import annotations

from penstock.control.ports import Actuator, Clock
from penstock.model import Plan
from penstock.spark.executors.executor_slots import ExecutorSlots
from penstock.spark.executors.whole_executors import WholeExecutors
from penstock.spark.measure.query_monitor import JOB


class ExecutorActuator(Actuator):
    """Changes the executors of one application. `settled_at` is when the last change was over."""

    def __init__(self, slots: ExecutorSlots, whole: WholeExecutors, clock: Clock) -> None:
        self._slots = slots
        self._whole = whole
        self._clock = clock
        self.settled_at = 0.0

    def plan(self) -> Plan:
        """The plan that was last requested. A lost executor is no change: the cluster manager replaces it."""
        return self._whole.plan(self._slots.requested or max(1, self._slots.executors()))

    def apply(self, plan: Plan) -> None:
        """What the cluster gives is kept, even if it is less than was requested: a job that falls behind is better
        served by some executors than by none. `plan` has the number that is left then."""
        grows = self._whole.executors(plan[JOB]) > self._slots.executors()
        try:
            (self._slots.require if grows else self._slots.give_back)(plan[JOB])
        finally:
            self.settled_at = self._clock.now()
