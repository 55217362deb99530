"""Double exponential smoothing: a level and a trend, each following what is measured at its own pace.

Glossary:

    s      seconds since the measurement before; s_mean its average so far
    r      s / s_mean: a step's length in usual steps
    a, b   what a step of that length moves level and trend: 1 - (1 - alpha)^r, 1 - (1 - beta)^r
    reach  the seconds over which the trend still counts: s if undamped, else less
    e      error: measured - predicted
    n      measurements so far

The first measurements count for more: a regression over n evenly spaced points moves its level by 2(2n - 1) / n(n + 1)
of an error and its trend by 6 / n(n + 1). Started in this way, two outliers do not set a trend that lasts for hours.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from penstock.forecast._base import OnlineForecaster
from penstock.model.errors import InvalidValueError
from penstock.model.options import option


@dataclass
class Holt(OnlineForecaster):
    """Smooths level and trend; a damped trend fades the further it looks ahead.

    A measurement after a longer step counts for as many usual steps as fit into it, so the pace does not depend on
    how often, or how regularly, one measures.

    >>> forecaster = Holt(damping=1.0)
    >>> for minute in (0, 1, 2, 5):
    ...     forecaster.learn(60 * minute, 100 + 10 * minute)
    >>> round(forecaster.predict(120), 6)
    170.0
    """

    name: ClassVar[str] = "holt"
    source: ClassVar[str] = "Holt's linear trend, damped as by Gardner and McKenzie"

    alpha: float = option(0.5, "how much of a miss goes into the level at each usual step", "ratio")
    beta: float = option(0.3, "how much of the level's change goes into the trend at each usual step", "ratio")
    damping: float = option(0.98, "what is left of the trend after each usual step; 1: all of it", "ratio")

    _first: float = field(init=False, default=0.0)
    _count: int = field(init=False, default=0)
    _usual: float = field(init=False, default=1.0)
    _level: float = field(init=False, default=0.0)
    _trend: float = field(init=False, default=0.0)

    def __post_init__(self) -> None:
        for name in ("alpha", "beta", "damping"):
            if not 0 < getattr(self, name) <= 1:
                raise InvalidValueError(name, f"must be more than 0 and at most 1, not {getattr(self, name)!r}")

    def _take(self, t: float, rate: float) -> None:
        self._count += 1
        if self.learnt_until is None:
            self._first, self._level = t, rate
            return
        n, s = self._count, t - self.learnt_until
        predicted = self._ahead(s)
        self._usual = (t - self._first) / (n - 1)
        r = s / self._usual
        a, b = 1 - (1 - self.alpha) ** r, 1 - (1 - self.beta) ** r
        e = rate - predicted
        self._level = predicted + max(a, 2 * (2 * n - 1) / (n * (n + 1))) * e
        self._trend = self.damping**r * self._trend + max(a * b, 6 / (n * (n + 1))) * e / s

    def _ahead(self, seconds: float) -> float:
        return self._level + self._trend * self._reach(seconds)

    def _reach(self, seconds: float) -> float:
        if self.damping == 1:
            return seconds
        left: float = self.damping ** (seconds / self._usual)
        return self._usual * self.damping * (1 - left) / (1 - self.damping)
