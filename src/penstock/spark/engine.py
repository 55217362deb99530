"""What every engine offers to the loop and to whoever runs a job."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from penstock.control.clock import WallClock
from penstock.control.ports import Actuator, Clock, Monitor
from penstock.model import Actuation, Execution, PenstockError, Plan, Sample, Topology
from penstock.spark.executors.slots import SlotSupplier


class SparkEngine(Monitor, Actuator, Clock, ABC):
    """Runs one job on Spark, measures it and changes it.

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

    @abstractmethod
    def start(self, plan: Plan) -> None:
        """Begin under `plan`, or go on from the checkpoint under it."""

    @abstractmethod
    def stop(self) -> None:
        """End cleanly; the next start goes on from the checkpoint."""

    @abstractmethod
    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the job ends, at most `seconds`; True if it has ended. Raises the error that ended it, if any."""

    @abstractmethod
    def read(self) -> Sequence[Sample]:
        """The windows that ended since the last call, oldest first."""

    def slots_needed(self, plan: Plan) -> int:
        """The slots that the job holds under `plan`."""
        return self.execution.slots(plan)

    @property
    def duplicates(self) -> int | None:
        """Records that came twice at the sinks since the start; None where nobody counts them."""
        return None

    def notes(self) -> list[str]:
        """What changes cost so far, and what is not measured, in sentences."""
        return []

    def plan(self) -> Plan:
        """The plan in force; the first one is that of `start`."""
        if self._plan is None:
            raise PenstockError("the job has not been started")
        return self._plan

    @abstractmethod
    def apply(self, plan: Plan) -> None:
        """Put `plan` in force in the running job; on failure raise, with the old plan still in force."""

    def now(self) -> float:
        return self._clock.now()
