"""Brings the executors of an application to the number that the plan of one of its queries says."""

from __future__ import annotations

from penstock.control.ports import Actuator, Clock
from penstock.model import Plan
from penstock.spark.executors.shared_slots import SharedSlots


class ExecutorActuator(Actuator):
    """Changes the executors of one application for one of its queries."""

    def __init__(self, shared: SharedSlots, run: str, clock: Clock) -> None:
        self._shared = shared
        self._run = run
        self._clock = clock

    def plan(self) -> Plan:
        return self._shared.share(self._run).plan(self._shared.in_force())

    def apply(self, plan: Plan) -> None:
        """If fewer executors come than were requested, `plan` has the number that is left then."""
        assert plan.executors is not None
        try:
            self._shared.change(plan.executors)
        finally:
            self._shared.settled_at = self._clock.now()
