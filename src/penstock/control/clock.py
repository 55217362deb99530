"""The wall clock of the loop, and a stopwatch for what it takes to decide."""

from __future__ import annotations

import time


class WallClock:
    """Unix time in seconds; somebody may set it."""

    def now(self) -> float:
        return time.time()

    def steady(self) -> float:
        """Seconds on a clock that nobody sets, to notice when the other one was set."""
        return time.monotonic()


class Stopwatch:
    """Milliseconds since it was last asked."""

    def __init__(self) -> None:
        self._since = time.perf_counter()

    def lap_ms(self) -> float:
        now = time.perf_counter()
        elapsed, self._since = now - self._since, now
        return 1e3 * elapsed
