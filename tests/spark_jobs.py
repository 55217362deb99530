"""Pipelines that the tests of both engines run, and how to wait for something without sleeping through it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Protocol

from pyspark.sql import DataFrame

Condition = Callable[[], object]

PATIENCE_SECONDS = 60.0
"""Ends a test that hangs; no test asks how long anything took."""


class Running(Protocol):
    def wait(self, seconds: float | None = None) -> bool: ...


def until(condition: Condition, what: str, job: Running) -> None:
    """Wait for `condition`; a job that has failed meanwhile raises what it failed of."""
    limit, pause = time.monotonic() + PATIENCE_SECONDS, threading.Event()
    while not condition():
        job.wait(0.001)
        assert time.monotonic() < limit, f"{what} did not come"
        pause.wait(0.05)


def working(milliseconds: int) -> Callable[[DataFrame], DataFrame]:
    """A native operator that takes so long for each record, and lets it pass."""
    wait = f"reflect('java.lang.Thread', 'sleep', cast({milliseconds} + length(value) * 0 as bigint)) = 'null'"
    return lambda frame: frame.where(wait)


def as_text(frame: DataFrame) -> DataFrame:
    return frame.selectExpr("cast(value as string) as text", "value", "stamp")
