"""Spreads independent runs over Spark: the same results on any number of slots, and none silently missing."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Generic, TypeVar

from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.accumulators import Accumulator, AccumulatorParam
from pyspark.sql import SparkSession

from penstock.model import PenstockError

T = TypeVar("T")
R = TypeVar("R")

LOOK_SECONDS = 0.1
"""Progress is reported, and Ctrl-C looked for, this often."""

TASKS_PER_SLOT = 20
"""Results come home with their task: enough tasks to see progress and to share the work, few enough to be cheap."""


@dataclass(frozen=True)
class Outcome(Generic[R]):
    """What one run came to: its result, or why there is none."""

    result: R | None = None
    failure: str | None = None


OpensSpark = Callable[[], SparkSession]
"""Starts the Spark that a sweep runs on."""

Found = Mapping[int, Outcome[R]]
"""Outcomes by the number of the run."""

Arrived = Accumulator[dict[int, Outcome[R]]]
"""They travel home with the task that found them, before the whole job has ended."""


def spread(
    work: Callable[[T], R],
    runs: Sequence[T],
    *,
    open_spark: OpensSpark | None,
    on_progress: Callable[[int], None] = lambda done: None,
    stopped: Callable[[], bool] = lambda: False,
) -> Found[R]:
    """Do `work` for each of `runs`, on the Spark that is opened for it, or one after the other in this process if None.

    `on_progress` is called with how many are done. Once `stopped` says so, what is done by then is returned; else there
    is an outcome for every run.

    >>> found = spread(lambda n: 12 // n, [3, 0], open_spark=None)
    >>> found[0].result, found[1].failure
    (4, 'ZeroDivisionError: integer division or modulo by zero')
    """
    if open_spark is None:
        found: dict[int, Outcome[R]] = {}
        for number, run in enumerate(runs):
            if stopped():
                break
            found[number] = _attempt(work, run)
            on_progress(len(found))
        return found
    sweep = _SparkSweep(work, runs, open_spark)
    while sweep.is_alive():
        sweep.join(LOOK_SECONDS)
        on_progress(len(sweep.found))
        if stopped():
            sweep.cancel()
    if sweep.trouble is not None:
        raise sweep.trouble
    return sweep.found


def _attempt(work: Callable[[T], R], run: T) -> Outcome[R]:
    try:
        return Outcome(result=work(run))
    except Exception as error:
        return Outcome(failure=f"{type(error).__name__}: {error}")


class _SparkSweep(threading.Thread, Generic[T, R]):
    """One sweep on a thread of its own: on the main thread Spark would take over Ctrl-C."""

    def __init__(self, work: Callable[[T], R], runs: Sequence[T], open_spark: OpensSpark) -> None:
        super().__init__(daemon=True, name="penstock-sweep")
        self.trouble: Exception | None = None
        self._work, self._runs, self._open_spark = work, runs, open_spark
        self._context: SparkContext | None = None
        self._arrived: Arrived[R] | None = None
        self._lost: dict[int, Outcome[R]] = {}
        self._cancelled = False
        self.start()

    @property
    def found(self) -> Found[R]:
        return {**({} if self._arrived is None else self._arrived.value), **self._lost}

    def cancel(self) -> None:
        self._cancelled = True
        if self._context is not None:
            self._context.cancelAllJobs()

    def run(self) -> None:
        try:
            with _context(self._open_spark) as self._context:
                self._arrived = self._context.accumulator({}, _Union())
                self._run_all(self._context, self._arrived)
                self._context = None
        except Exception as error:
            self.trouble = error

    def _run_all(self, context: SparkContext, arrived: Arrived[R]) -> None:
        numbers = range(len(self._runs))
        tasks = min(len(self._runs), TASKS_PER_SLOT * context.defaultParallelism)
        # Dealt like cards: neighbours are of one policy, and the slow policies shall not meet in one task.
        if self._submit(context, arrived, [numbers[first::tasks] for first in range(tasks)]) is None:
            return
        # A process died, not just a run. What it left behind is run one by one: only the run that kills is lost.
        for number in numbers:
            if not self._cancelled and number not in self.found:
                why = self._submit(context, arrived, [[number]])
                if why is not None:
                    self._lost[number] = Outcome(failure=why)

    def _submit(self, context: SparkContext, arrived: Arrived[R], tasks: Sequence[Sequence[int]]) -> str | None:
        """Run these tasks; says why not all of them came to an end."""
        work, runs = self._work, self._runs  # tasks shall not carry this thread along

        def do(numbers: Iterable[int]) -> None:
            arrived.add({number: _attempt(work, runs[number]) for number in numbers})

        if self._cancelled:
            return "stopped"
        try:
            context.parallelize(tasks, len(tasks)).foreach(do)
        except Py4JError as error:
            return _cause(error)
        return None


class _Union(AccumulatorParam[dict[int, Outcome[R]]]):
    """Gathers what the tasks found. A task that Spark ran twice brings the same twice."""

    def zero(self, value: dict[int, Outcome[R]]) -> dict[int, Outcome[R]]:
        return {}

    def addInPlace(  # noqa: N802
        self, value1: dict[int, Outcome[R]], value2: dict[int, Outcome[R]]
    ) -> dict[int, Outcome[R]]:
        return {**value1, **value2}


@contextmanager
def _context(open_spark: OpensSpark) -> Iterator[SparkContext]:
    """The Spark that runs already in this process, or else one of our own for the time of the sweep."""
    if SparkContext._active_spark_context is not None:
        yield SparkContext._active_spark_context
        return
    try:
        session = open_spark()
    except Py4JError as error:
        raise PenstockError(f"Spark cannot be started: {_cause(error)}") from None
    session.sparkContext.setLogLevel("OFF")  # what goes wrong is in the outcomes
    try:
        yield session.sparkContext
    finally:
        session.stop()


def _cause(error: Py4JError) -> str:
    """The last cause that Spark names, in its first sentence."""
    text = str(error.java_exception.getMessage() if hasattr(error, "java_exception") else error)
    return text.partition("\n")[0].rpartition("Exception: ")[2].partition(". ")[0]
