"""Slows a simulation down to a speed that can be watched."""

from __future__ import annotations

import time

from penstock.control.clock import Stopwatch


class Pace:
    """Waits so that frames are at least `seconds` apart; 0 does not wait at all."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._watch = Stopwatch()

    def wait(self) -> None:
        left = self.seconds - self._watch.lap_ms() / 1e3
        if left > 0:
            time.sleep(left)
            self._watch.lap_ms()
