"""The ports of the loop: what a cluster, a store and a clock must offer. The simulator and Spark implement them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from penstock.model import Cycle, JobDescription, Plan, Sample
from penstock.policies import State


class Monitor(Protocol):
    """Measures the job."""

    def read(self) -> Sequence[Sample]:
        """The windows that ended since the last call, oldest first; none if nothing was measured."""


class Actuator(Protocol):
    """Changes the job."""

    def plan(self) -> Plan:
        """The plan in force."""

    def apply(self, plan: Plan) -> None:
        """Put `plan` in force; on failure raise, with the old plan still in force."""


class Store(Protocol):
    """Remembers one job's cycles and what its policy learnt."""

    def record(self, cycle: Cycle, policy: str, state: State | None = None) -> None:
        """Keep a cycle and, if given, what the policy knows after it: both or neither."""

    def describe(self, description: JobDescription) -> None:
        """Keep what the job is, from the next cycle on; a store need not."""

    def recent(self, count: int) -> Sequence[Cycle]:
        """The last `count` cycles, oldest first."""

    def state(self, policy: str) -> State | None:
        """What that policy knew when it was last recorded."""

    def close(self) -> None: ...


class Clock(Protocol):
    """Gives the time in seconds: Unix time on a live job, time since the start in a simulation.

    One that somebody may set is a `SteadyClock`.
    """

    def now(self) -> float: ...


class SteadyClock(Clock, Protocol):
    """Also has the seconds on a clock that nobody sets."""

    def steady(self) -> float: ...
