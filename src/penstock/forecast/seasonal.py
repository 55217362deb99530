"""The same time of the day, or of the week: a load that comes round is known before it comes.

Glossary:

    phase    time since the period began, as if one period followed the other from time 0 on
    profile  the mean rate at each phase, over the periods seen; a newer period counts for more
    level    how the last half hour stands to the profile at the same phases: a busier day is busier throughout
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from penstock.forecast._base import OnlineForecaster
from penstock.model.errors import InvalidValueError, check_whole
from penstock.model.options import option

NEWEST_PERIOD = 0.5
"""What the newest period counts for in the profile; the ones before share the rest in the same way."""

LEVEL_HALF_LIFE = 900.0
"""Seconds after which a measurement counts for half in the level."""


@dataclass
class Seasonal(OnlineForecaster):
    """Expects what the profile of earlier periods shows at that time, at the level of the present one.

    A time of which the profile knows nothing is expected to be like now, so for the whole first period it expects the
    last rate.

    >>> forecaster = Seasonal(period=240.0, bins=4)
    >>> for half_minute in range(17):
    ...     forecaster.learn(30.0 * half_minute, 100.0 if half_minute % 8 > 1 else 20.0)
    >>> round(forecaster.predict(90)), forecaster.knows_the_season
    (99, True)
    """

    name: ClassVar[str] = "seasonal"
    source: ClassVar[str] = "the seasonal naive forecast, with a running profile"

    period: float = option(86_400.0, "after this time the load comes round", "s")
    bins: int = option(144, "parts of the period, each with a mean of its own")

    _rate: float = field(init=False, default=0.0)
    _profile: list[float | None] = field(init=False, default_factory=list)
    _bin: int = field(init=False, default=-1)
    _count: int = field(init=False, default=0)
    _mean: float = field(init=False, default=0.0)
    _recent: float = field(init=False, default=0.0)
    _usual: float = field(init=False, default=0.0)

    def __post_init__(self) -> None:
        if not self.period > 0:
            raise InvalidValueError("period", f"must be positive, not {self.period!r}")
        check_whole("bins", self.bins, 2)
        self._profile = [None] * self.bins

    @property
    def knows_the_season(self) -> bool:
        """Whether a whole period has been seen."""
        return None not in self._profile

    def _take(self, t: float, rate: float) -> None:
        usual = self._at(t)
        if usual is not None and self.learnt_until is not None:
            fade = 0.5 ** ((t - self.learnt_until) / LEVEL_HALF_LIFE)
            self._recent = fade * self._recent + rate
            self._usual = fade * self._usual + usual
        at = int(t % self.period / self.period * self.bins) % self.bins
        if at != self._bin:
            self._close()
            self._bin, self._count, self._mean = at, 0, 0.0
        self._count += 1
        self._mean += (rate - self._mean) / self._count
        self._rate = rate

    def _close(self) -> None:
        """The time in this part of the period is over: its mean goes into the profile."""
        if self._count:
            before = self._profile[self._bin]
            newest = self._mean if before is None else before + NEWEST_PERIOD * (self._mean - before)
            self._profile[self._bin] = newest

    def _ahead(self, seconds: float) -> float:
        assert self.learnt_until is not None
        usual = self._at(self.learnt_until + seconds)
        if usual is None or self._usual <= 0:
            return self._rate
        return usual * (self._recent / self._usual)

    def _at(self, t: float) -> float | None:
        """The profile at a time, on straight lines between the middles of its parts; None where it is not known."""
        exact = t % self.period / self.period * self.bins - 0.5
        first = int(exact // 1)
        before, after = self._profile[first % self.bins], self._profile[(first + 1) % self.bins]
        if before is None or after is None:
            return None
        return before + (exact - first) * (after - before)

    def _memory(self) -> dict[str, Any]:
        return {**super()._memory(), "profile": list(self._profile)}

    def _remember(self, memory: Mapping[str, Any]) -> None:
        super()._remember({**memory, "profile": list(memory["profile"])})
