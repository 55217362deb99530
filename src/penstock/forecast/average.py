"""The mean of what was measured, the newer the more: what a load that comes back to its level comes back to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from penstock.forecast._base import OnlineForecaster
from penstock.model.errors import InvalidValueError
from penstock.model.options import option


@dataclass
class Average(OnlineForecaster):
    """Expects the mean rate, in which a measurement counts for half after the half-life, however far ahead.

    >>> forecaster = Average(half_life=60.0)
    >>> for minute, rate in enumerate((100, 100, 100, 170)):
    ...     forecaster.learn(60 * minute, rate)
    >>> round(forecaster.predict(600), 1)
    140.0
    """

    name: ClassVar[str] = "average"
    source: ClassVar[str] = "simple exponential smoothing, by time and not by step"

    half_life: float = option(1800.0, "after this time a measurement counts for half", "s")

    _weight: float = field(init=False, default=0.0)
    _mean: float = field(init=False, default=0.0)

    def __post_init__(self) -> None:
        if not self.half_life > 0:
            raise InvalidValueError("half_life", f"must be positive, not {self.half_life!r}")

    def _take(self, t: float, rate: float) -> None:
        if self.learnt_until is None:
            self._mean = rate
            return
        # A rate stands for the time since the one before it, the first for none. Early ones count as in a plain mean.
        left = 0.5 ** ((t - self.learnt_until) / self.half_life)
        self._weight = left * self._weight + (1.0 - left)
        self._mean += (1.0 - left) / self._weight * (rate - self._mean)

    def _ahead(self, seconds: float) -> float:
        return self._mean
