"""What every engine offers to the loop and to whoever runs a job."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Protocol

from penstock.model import Actuation, Execution, Plan, Sample, Topology


class Engine(Protocol):
    """Runs a job on Spark, measures it and changes it: monitor, actuator and clock of the loop in one."""

    execution: ClassVar[Execution]
    actuation: ClassVar[Actuation]
    topology: Topology

    def start(self) -> None:
        """Begin, or go on from the checkpoint."""

    def stop(self) -> None:
        """End cleanly; the checkpoint knows where to go on."""

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the job ends, so long at most; True if it has ended. Raises what ended it, if that is an error."""

    def read(self) -> Sequence[Sample]: ...

    def plan(self) -> Plan: ...

    def apply(self, plan: Plan) -> None: ...

    def now(self) -> float: ...
