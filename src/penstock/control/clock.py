"""The one file that reads the wall clock."""

from __future__ import annotations

import time


class WallClock:
    """Unix time in seconds."""

    def now(self) -> float:
        return time.time()
