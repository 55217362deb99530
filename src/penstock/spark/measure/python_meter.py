"""Lets a Python function that Spark's workers call measure its own useful time.

    @metered
    def score(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]: ...

    job.operator("score", lambda clicks: clicks.mapInPandas(score, "user string, score double"))

It may be handed to `mapInPandas`, `mapInArrow` and `udf`. Time that it waits for its input does not count; starting a
Python worker and carrying records to it does not either. An operator without it is measured by its stage, which has
all that in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import update_wrapper
from time import perf_counter
from typing import Any

from pyspark import SparkContext
from pyspark.accumulators import Accumulator

_found: ContextVar[list[Metered] | None] = ContextVar("_found", default=None)


class Metered:
    """See `metered`. What it has measured comes back to the driver with each task that ends."""

    def __init__(self, function: Callable[..., Any], seconds: Accumulator[float] | None = None) -> None:
        self.function = function
        self._seconds = seconds
        update_wrapper(self, function)

    @property
    def useful_seconds(self) -> float:
        """Useful seconds of all tasks that have ended so far; known in the driver only."""
        return 0.0 if self._seconds is None else self._seconds.value

    def __call__(self, *arguments: Any) -> Any:
        if len(arguments) == 1 and isinstance(arguments[0], Iterator):
            return self._stream(arguments[0])
        began = perf_counter()
        try:
            return self.function(*arguments)
        finally:
            self._add(perf_counter() - began)

    def _stream(self, given: Iterator[Any]) -> Iterator[Any]:
        useful = waited = 0.0

        def inputs() -> Iterator[Any]:
            nonlocal waited
            while True:
                began = perf_counter()
                try:
                    item = next(given)
                except StopIteration:
                    return
                finally:
                    waited += perf_counter() - began
                yield item

        outputs = iter(self.function(inputs()))
        try:
            while True:
                began, waited_before = perf_counter(), waited
                try:
                    item = next(outputs)
                except StopIteration:
                    return
                finally:
                    useful += perf_counter() - began - (waited - waited_before)
                yield item
        finally:
            self._add(useful)

    def _add(self, seconds: float) -> None:
        if self._seconds is not None:
            self._seconds.add(seconds)

    def __reduce__(self) -> tuple[Any, ...]:
        """Called on its way to a worker: from now on it reports, and `meters_found` has it."""
        context = SparkContext._active_spark_context
        if self._seconds is None and context is not None:
            self._seconds = context.accumulator(0.0)
        found = _found.get()
        if found is not None and self not in found:
            found.append(self)
        return Metered, (self.function, self._seconds)


def metered(function: Callable[..., Any]) -> Metered:
    """`function`, measuring itself."""
    return Metered(function)


@contextmanager
def meters_found() -> Iterator[list[Metered]]:
    """The metered functions that frames built inside send to workers."""
    found: list[Metered] = []
    token = _found.set(found)
    try:
        yield found
    finally:
        _found.reset(token)
