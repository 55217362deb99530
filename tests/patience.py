"""Waiting for something to come about: the only place of the tests that does."""

from __future__ import annotations

import time
from collections.abc import Callable

HANG_SECONDS = 600.0
"""Ends a test that would hang. No test says how fast anything must be."""


def wait_for(condition: Callable[[], object], what: str = "it", every: float = 0.05) -> float:
    """Look at `condition` again and again until it holds; returns the seconds that passed."""
    began = time.monotonic()
    while not condition():
        assert time.monotonic() - began < HANG_SECONDS, f"{what} never came to be"
        time.sleep(every)
    return time.monotonic() - began
