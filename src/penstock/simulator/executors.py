"""Executors as a cluster manager gives them: whole ones, that take time to come and to go and cost cores meanwhile."""

from __future__ import annotations

import math
from dataclasses import dataclass

from penstock.model.errors import check_number, check_whole


@dataclass(frozen=True, slots=True)
class Executors:
    """What slots are made of.

    cores           slots of one executor
    arrive_seconds  from the request to the first task that it runs
    leave_seconds   from its release until it is gone

    An executor is paid for from its request until it is gone. A plan that needs more takes effect when all of them
    serve; one that needs fewer takes effect immediately.
    """

    cores: int
    arrive_seconds: float = 0.0
    leave_seconds: float = 0.0

    def __post_init__(self) -> None:
        check_whole("executors: cores", self.cores, 1)
        check_number("executors: arrive_seconds", self.arrive_seconds)
        check_number("executors: leave_seconds", self.leave_seconds)

    def holding(self, slots: int) -> int:
        """How many executors have this many slots.

        >>> Executors(cores=4).holding(9)
        3
        """
        return math.ceil(slots / self.cores)


class ExecutorPool:
    """The executors of one job: those that serve, those on their way, and those that leave."""

    def __init__(self, executors: Executors, slots: int) -> None:
        self._executors = executors
        self.serving = executors.holding(slots)
        # Tuples, so that a copy of the pool is one of its own.
        self._ready_at: tuple[float, ...] = ()  # of those on their way, in order
        self._gone_at: tuple[float, ...] = ()  # of those that leave

    def require(self, slots: int, now: float) -> float:
        """Request what this many slots need beyond what was requested before; returns when all of it serves."""
        self._pass(now)
        beyond = self._executors.holding(slots) - self.serving
        requested = max(0, beyond - len(self._ready_at))
        self._ready_at += (now + self._executors.arrive_seconds,) * requested
        return self._ready_at[beyond - 1] if beyond > 0 else now

    def give_back(self, slots: int, now: float) -> None:
        """Release what this many slots do not need: those on their way first, the last requested before the others."""
        self._pass(now)
        beyond = self.serving + len(self._ready_at) - self._executors.holding(slots)
        if beyond > 0:
            on_their_way = min(beyond, len(self._ready_at))
            self._ready_at = self._ready_at[: len(self._ready_at) - on_their_way]
            self.serving -= beyond - on_their_way
            self._gone_at += (now + self._executors.leave_seconds,) * beyond

    def leaving(self, now: float) -> int:
        """Those that were released and are not gone yet."""
        return sum(gone_at > now for gone_at in self._gone_at)

    def core_seconds(self, since: float, until: float) -> float:
        """What executors cost from one moment to another; none may have been requested or released in between."""
        leaving = sum(max(0.0, min(gone_at, until) - since) for gone_at in self._gone_at)
        kept = (self.serving + len(self._ready_at)) * (until - since)
        self._pass(until)
        return self._executors.cores * (kept + leaving)

    def _pass(self, now: float) -> None:
        arrived = sum(ready_at <= now for ready_at in self._ready_at)
        self.serving += arrived
        self._ready_at = self._ready_at[arrived:]
        self._gone_at = tuple(gone_at for gone_at in self._gone_at if gone_at > now)
