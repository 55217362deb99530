"""What every engine offers to the loop and to whoever runs a job."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from penstock.control.clock import WallClock
from penstock.control.ports import Actuator, Clock, Monitor
from penstock.control.think import sentence
from penstock.model import Actuation, Execution, PenstockError, Plan, Sample, Topology
from penstock.spark.executors.slots import SlotSupplier

log = logging.getLogger("penstock")


class SparkEngine(Monitor, Actuator, Clock, ABC):
    """Runs one job on Spark, measures it and changes it.

    Slots come before the plan that needs them, and go after the plan that needed them. That is the same for every
    engine: `start` and `apply` do it here, and an engine says what it does in between. While the slots of a change are
    awaited the job runs on under its old plan.

    topology         the operators of the job
    slots            where it gets its slots from
    trigger_seconds  from the start of one micro-batch to that of the next; 0: no trigger interval
    """

    execution: ClassVar[Execution]
    actuation: ClassVar[Actuation]

    def __init__(self, topology: Topology, slots: SlotSupplier) -> None:
        self.topology = topology
        self.slots = slots
        self._clock = WallClock()
        self._plan: Plan | None = None

    @property
    def trigger_seconds(self) -> float:
        return 0.0

    @property
    def local_checkpoint(self) -> Path | None:
        """The folder of the checkpoint, if it lies on a disk of this machine."""
        return None

    @property
    def changes_executors(self) -> bool:
        """Whether executors come and go with the plan; else only parallelism changes."""
        return self.slots.executors_for(1) is not None

    def start(self, plan: Plan) -> None:
        """Begin under `plan`, or go on from the checkpoint under it."""
        plan.check(self.topology)
        plan = self._prepare(plan)
        with self._with_slots(plan, before=self.slots.slots()):
            self._start(plan)

    @abstractmethod
    def stop(self) -> None:
        """End cleanly; the next start goes on from the checkpoint."""

    @abstractmethod
    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the job ends, at most `seconds`; True if it has ended. Raises the error that ended it, if any."""

    @abstractmethod
    def read(self) -> Sequence[Sample]:
        """The windows that ended since the last call, oldest first."""

    @property
    def duplicates(self) -> int | None:
        """Records that came twice at the sinks since the start; None where nobody counts them."""
        return None

    def notes(self) -> list[str]:
        """What changes cost so far, and what is not measured, in sentences."""
        return []

    def plan(self) -> Plan:
        """The plan in force, with its executors where they can be changed; the first one is that of `start`."""
        if self._plan is None:
            raise PenstockError("the job has not been started")
        executors = self.slots.executors_for(self.slots_needed(self._plan))
        return self._plan if self._plan.executors == executors else replace(self._plan, executors=executors)

    def apply(self, plan: Plan) -> None:
        """Put `plan` in force in the running job; on failure raise, with the old plan still in force."""
        plan.check(self.topology)
        with self._with_slots(plan, before=self._slots_used(self.plan())):
            self._change(plan)

    def slots_needed(self, plan: Plan) -> int:
        """The slots with which every task of a plan runs without waiting for another one."""
        return self.execution.slots(plan, self.topology)

    def _slots_required(self, plan: Plan) -> int:
        """The slots that must be there before a plan is put in force."""
        return self._slots_used(plan)

    def _slots_ahead(self, plan: Plan) -> int:
        """The slots that putting a plan in force takes for a moment, beyond those that must be there before."""
        return 0

    def give_back(self) -> None:
        """Release what the plan in force does not need."""
        self._give_back(self._slots_used(self.plan()))

    # What an engine does itself -------------------------------------------------------------------------------------

    def _prepare(self, plan: Plan) -> Plan:
        """What must be done or known before a start; returns the plan that will be in force."""
        return plan

    @abstractmethod
    def _start(self, plan: Plan) -> None:
        """Start the job: its slots are there."""

    @abstractmethod
    def _change(self, plan: Plan) -> None:
        """Put a plan in force: its slots are there."""

    def _state_holders(self) -> Collection[str]:
        """The executors that hold state of the job."""
        return ()

    # Slots ----------------------------------------------------------------------------------------------------------

    def _slots_used(self, plan: Plan) -> int:
        """Operators that run sequentially can also run on fewer slots, where there are no more: in several rounds."""
        needed = self.slots_needed(plan)
        return min(needed, self.slots.most_slots()) if self.execution is Execution.SEQUENTIAL else needed

    @contextmanager
    def _with_slots(self, plan: Plan, before: int) -> Iterator[None]:
        """Get the slots of a plan, put it in force inside the block, and give back what it does not need.

        If it does not come into force, what came for it goes again: there are `before` slots then.
        """
        try:
            self.slots.require(self._slots_required(plan), ahead=self._slots_ahead(plan))
            yield
        except BaseException:
            self._give_back(before)
            raise
        self.give_back()

    def _give_back(self, slots: int) -> None:
        """If this fails, the job runs on and pays for more."""
        try:
            self.slots.give_back(slots, self._state_holders)
        except Exception as error:
            log.warning("executors could not be released: %s", sentence(error))

    def now(self) -> float:
        return self._clock.now()

    def steady(self) -> float:
        return self._clock.steady()
