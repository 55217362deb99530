"""Which of the windows that a monitor shows count.

A window counts once, in the order of time, and only if it can have been measured on this job: one that ends after the
present has not, and one with other operators is that of another job. Somebody may set the clock of the machine:

    by any amount        the windows that it was set in have a wrong length, and wrong rates: they do not count
    back, by an interval everything that is known lies in the future: it is forgotten, and the loop starts afresh
    back, by less        windows do not count until the time of the newest one is reached again
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from penstock.control.ports import Clock
from penstock.model import Sample

SET_SECONDS, SET_SHARE = 1.0, 0.1
"""A clock that is off by more than both, against one that nobody sets, was set. What is less is lost in the figures."""


class Intake:
    """Sorts out windows. Where `clock` has a `steady` one beside it, that tells when the clock was set.

    not_counted  why windows were left out of the newest ones; None if none was
    """

    def __init__(self, clock: Clock, interval_seconds: float, operators: Iterable[str]) -> None:
        self.not_counted: str | None = None
        self._operators = frozenset(operators)
        self._interval = interval_seconds
        self._steady: Callable[[], float] | None = getattr(clock, "steady", None)
        self._set_at = -math.inf  # windows that began earlier have the wrong length
        self._now = -math.inf
        self._steady_now: float | None = None

    def goes_on_after(self, t: float) -> None:
        """An earlier process stopped then."""
        self._now = t

    def look(self, now: float) -> bool:
        """Note how late it is, before windows are read; whether the clock was set back by an interval or more."""
        before, self._now = self._now, now
        if self._steady is not None:
            steady_before, self._steady_now = self._steady_now, self._steady()
            if steady_before is not None:
                passed = self._steady_now - steady_before
                if abs(now - before - passed) > max(SET_SECONDS, SET_SHARE * passed):
                    self._set_at = now
        return now <= before - self._interval

    def _seconds_since_look(self) -> float:
        """To read windows may take a while."""
        if self._steady is None or self._steady_now is None:
            return 0.0
        return self._steady() - self._steady_now

    def counted(self, measured: Iterable[Sample], newest: float) -> list[Sample]:
        """Those of the windows that count, when the newest one so far ended at `newest`."""
        counted: list[Sample] = []
        self.not_counted = None
        latest = self._now + self._interval + self._seconds_since_look()  # as far as clocks agree
        for sample in measured:
            if sample.end > latest:
                self.not_counted = f"a window ends {sample.end - self._now:.0f} s after the present"
            elif sample.t < self._set_at:
                self.not_counted = "the clock was set while a window was measured"
            elif sample.operators.keys() != self._operators:
                self.not_counted = "a window has other operators than the job"
            elif sample.end > newest:
                counted.append(sample)
                newest = newest if sample.warm_up else sample.end
        return counted


def in_order(times: Sequence[float]) -> int:
    """From which place on times do not go back: the clock was set back before it.

    >>> in_order([10, 20, 5, 6]), in_order([10, 20])
    (2, 0)
    """
    begin = len(times) - 1
    while begin > 0 and times[begin - 1] <= times[begin]:
        begin -= 1
    return max(0, begin)
