"""Pipelines that the tests of both engines run, and how to wait for something without sleeping through it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from pyspark.sql import DataFrame

from patience import wait_for

Condition = Callable[[], object]


class Running(Protocol):
    def wait(self, seconds: float | None = None) -> bool: ...


def until(condition: Condition, what: str, job: Running) -> None:
    """Wait for `condition`; a job that has failed meanwhile raises what it failed of."""

    def holds() -> object:
        job.wait(0.001)
        return condition()

    wait_for(holds, what)


def working(milliseconds: int) -> Callable[[DataFrame], DataFrame]:
    """A native operator that takes so long for each record, and lets it pass."""
    wait = f"reflect('java.lang.Thread', 'sleep', cast({milliseconds} + length(value) * 0 as bigint)) = 'null'"
    return lambda frame: frame.where(wait)


def as_text(frame: DataFrame) -> DataFrame:
    return frame.selectExpr("cast(value as string) as text", "value", "stamp")
