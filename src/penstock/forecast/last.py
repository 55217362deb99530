"""The naive forecast: the rate stays as it is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from penstock.forecast._base import OnlineForecaster


@dataclass
class Last(OnlineForecaster):
    """Expects the last measured rate, however far ahead: what every other forecaster must beat.

    >>> forecaster = Last()
    >>> forecaster.learn(0, 100)
    >>> forecaster.learn(60, 140)
    >>> forecaster.predict(60), forecaster.mean_absolute_error
    (140.0, 40.0)
    """

    name: ClassVar[str] = "last"
    source: ClassVar[str] = "the naive forecast"

    _rate: float = field(init=False, default=0.0)

    def _take(self, t: float, rate: float) -> None:
        self._rate = rate

    def _ahead(self, seconds: float) -> float:
        return self._rate
