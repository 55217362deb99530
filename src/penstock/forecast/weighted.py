"""Several forecasters, each believed as far as it has been right at the horizon in question; with quantiles.

Every minute each of them predicts the rate at all horizons. When that time has come, its running error at that horizon
takes in the miss, and the misses of their weighted mean are kept for the quantiles (`_conformal`). So are the misses of
the highest rate until then: who must carry a load has to carry its peaks.

    e    running mean of |measured - predicted| / scale, of one forecaster at one horizon
    s    the same at the shortest horizon
    c    SOONER up to the horizon SOON, less beyond it in proportion: how much s counts
    w    ((e + LEAST)^(1 - c) (s + LEAST)^c)^-SHARPNESS: its weight there

What a forecaster says for an hour ahead is known to be wrong an hour later. What it says for the next minute is known
after a minute: when a surge begins, that tells who sees it, long before its own horizon does.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from penstock.forecast import State
from penstock.forecast._base import OnlineForecaster
from penstock.forecast._conformal import FEW, Misses
from penstock.forecast.average import Average
from penstock.forecast.holt import Holt
from penstock.forecast.last import Last
from penstock.forecast.linear import Linear
from penstock.forecast.seasonal import Seasonal

HORIZONS = (60.0, 120.0, 180.0, 300.0, 600.0, 900.0, 1800.0, 3600.0)
"""Seconds ahead at which misses are measured."""

EVERY, WITHIN = 60.0, 4
"""Predictions to be scored later are made this often, and no more often than so many times within their own horizon:
else a single surge is in most of what is remembered of the long ones, and it is expected again for hours."""

SHARPNESS, LEAST = 4.0, 2e-3
"""How much more the better one counts; smaller errors than the least are not told apart."""

SOONER, SOON = 0.3, 600.0
"""How much the error at the shortest horizon counts at the others, up to so many seconds ahead. By the quantile loss of
peaks on real days: 0.3 is a fifteenth better than none at five minutes, and more is worse at a quarter of an hour."""

MEMORY = 40
"""Misses after which an earlier one counts for a third in a running error."""

NOMINAL, GROWS_UNTIL = 0.05, 900.0
"""Before misses were measured: the error at the first horizon; it grows with the square root of the time, up to a
quarter of an hour."""

SMALL = 0.02
"""Misses are shares of the prediction and this part of the usual rate: near 0 a share of nothing means nothing."""

MOST = 10.0
"""A miss counts for no more than this many times the scale."""


@dataclass(slots=True)
class Pending:
    """When a prediction is due, the number of its horizon, what each forecaster said, what was made of that, and the
    highest rate since."""

    due: float
    number: int
    said: list[float]
    mean: float
    peak: float = 0.0


@dataclass
class Weighted(OnlineForecaster):
    """The weighted mean of last value, level, mean of minutes and of hours, trend, damped trend, and seasons.

    >>> forecaster = Weighted()
    >>> for minute in range(30):
    ...     forecaster.learn(60 * minute, 100 + 10 * minute)
    >>> round(forecaster.predict(300)), [round(q) for q in forecaster.quantiles(300, (0.1, 0.9))]
    (440, [440, 551])
    """

    name: ClassVar[str] = "weighted"
    source: ClassVar[str] = "Penstock's own: forecasters weighed by running error, conformal quantiles"

    members: dict[str, OnlineForecaster] = field(init=False, default_factory=dict)
    _errors: list[list[float]] = field(init=False, default_factory=list)
    _scored: list[int] = field(init=False, default_factory=list)
    _misses: list[Misses] = field(init=False, default_factory=list)
    _peaks: list[Misses] = field(init=False, default_factory=list)
    _pending: list[Pending] = field(init=False, default_factory=list)
    _usual: float = field(init=False, default=0.0)
    _rate: float = field(init=False, default=0.0)
    _asked: list[float | None] = field(init=False, default_factory=list)
    _began: float | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.members = {
            "last": Last(),
            "level": Holt(alpha=0.1, beta=0.01, damping=0.5),
            "minutes": Average(half_life=600.0),
            "hour": Average(half_life=3600.0),
            "trend": Linear(window=240.0),
            "damped": Holt(alpha=0.3, beta=0.1, damping=0.97),
            "day": Seasonal(),
            "week": Seasonal(period=7 * 86_400.0, bins=336),
        }
        self._errors = [[0.0] * len(self.members) for _ in HORIZONS]
        self._scored = [0] * len(HORIZONS)
        self._asked = [None] * len(HORIZONS)
        self._misses, self._peaks = (
            [Misses(NOMINAL * (min(horizon, GROWS_UNTIL) / HORIZONS[0]) ** 0.5) for horizon in HORIZONS]
            for _ in range(2)
        )

    def weights(self, seconds_ahead: float) -> dict[str, float]:
        """How much each forecaster counts at a horizon; together 1."""
        return dict(zip(self.members, self._weights(_horizon(seconds_ahead)), strict=True))

    def quantiles(self, seconds_ahead: float, levels: Sequence[float]) -> list[float]:
        """The rates that are not exceeded with these probabilities, that many seconds ahead; there is a measurement."""
        return self._around(self._ahead(seconds_ahead), self._misses, _horizon(seconds_ahead), levels)

    def peaks(self, seconds_ahead: float, levels: Sequence[float]) -> list[float]:
        """The same for the highest rate until then."""
        return self._around(self._ahead(seconds_ahead), self._peaks, _horizon(seconds_ahead), levels)

    def _around(self, predicted: float, kind: Sequence[Misses], number: int, levels: Sequence[float]) -> list[float]:
        """What is predicted and the misses of one kind; while a horizon has too few, those of the longest one that is
        shorter and has enough: what this load did says more than a nominal error."""
        predicted = max(0.0, predicted)
        known = next((each for each in kind[number::-1] if len(each.newest) >= FEW), kind[number])
        scale = self._scale(predicted)
        return [max(0.0, predicted + scale * known.quantile(level)) for level in levels]

    def _take(self, t: float, rate: float) -> None:
        self._score(t, rate)
        self._rate = rate
        # One that cannot be is not the usual rate; but a source that begins at 0 is not kept there.
        counts = min(rate, MOST * self._usual) if self._usual else rate
        self._usual += (counts - self._usual) * (1.0 if self.learnt_until is None else 0.02)
        for member in self.members.values():
            member.learn(t, rate)
        if self._began is None:
            self._began = t
        if t - self._began < EVERY - 1e-6:
            return  # one window of a load that has just begun is no ground for a prediction that is held against all
        for number, horizon in enumerate(HORIZONS):
            asked = self._asked[number]
            if asked is not None and t - asked < max(EVERY, horizon / WITHIN) - 1e-6:
                continue
            self._asked[number] = t
            if rate < SMALL * self._usual:
                continue  # a source that comes back after a stop says nothing about how a load that runs varies
            said = [member.predict(horizon) or 0.0 for member in self.members.values()]
            self._pending.append(Pending(t + horizon, number, said, self._mean(said, number)))

    def _score(self, t: float, rate: float) -> None:
        """Compare what was predicted for now with what was measured; what should have been measured is dropped."""
        for each in self._pending:
            each.peak = max(each.peak, rate)
        due = [each for each in self._pending if each.due <= t + 1e-6]
        if not due:
            return
        self._pending = [each for each in self._pending if each.due > t + 1e-6]
        for each in due:
            if t - each.due > EVERY or each.mean < SMALL * self._usual:
                continue
            number, scale = each.number, self._scale(each.mean)
            self._scored[number] += 1
            pace = max(1 / self._scored[number], 1 / MEMORY)
            errors = self._errors[number]
            for place, said in enumerate(each.said):
                errors[place] += pace * (abs(_share(rate - said, scale)) - errors[place])
            self._misses[number].add(_share(rate - each.mean, scale))
            self._peaks[number].add(_share(each.peak - each.mean, scale))

    def _scale(self, predicted: float) -> float:
        return predicted + SMALL * self._usual

    def _ahead(self, seconds: float) -> float:
        return self._mean([member.predict(seconds) or 0.0 for member in self.members.values()], _horizon(seconds))

    def _mean(self, said: Sequence[float], number: int) -> float:
        """The weighted mean, as seen from the last rate: where all agree with that, it is that to the last bit."""
        weights = self._weights(number)
        return self._rate + sum(w * (each - self._rate) for w, each in zip(weights, said, strict=True))

    def _weights(self, number: int) -> list[float]:
        known = (not isinstance(each, Seasonal) or each.knows_the_season for each in self.members.values())
        counts = SOONER * min(1.0, SOON / HORIZONS[number])
        here, soon = -SHARPNESS * (1 - counts), -SHARPNESS * counts
        raw = [
            (error + LEAST) ** here * (sooner + LEAST) ** soon * knows
            for error, sooner, knows in zip(self._errors[number], self._errors[0], known, strict=True)
        ]
        whole = sum(raw)
        return [each / whole for each in raw]

    def _memory(self) -> dict[str, Any]:
        return {
            "members": {name: member.state() for name, member in self.members.items()},
            "errors": [list(errors) for errors in self._errors],
            "scored": list(self._scored),
            "misses": [list(misses.newest) for misses in self._misses],
            "peaks": [list(misses.newest) for misses in self._peaks],
            "pending": [[each.due, each.number, list(each.said), each.mean, each.peak] for each in self._pending],
            "usual": self._usual,
            "rate": self._rate,
            "asked": list(self._asked),
            "began": self._began,
        }

    def restore(self, state: State) -> None:
        """Goes on where it stopped; what a version with other forecasters or horizons has stored is left: it starts
        afresh."""
        memory = state["memory"]
        if memory["members"].keys() == self.members.keys() and len(memory["scored"]) == len(HORIZONS):
            super().restore(state)

    def _remember(self, memory: Mapping[str, Any]) -> None:
        for name, member in self.members.items():
            member.restore(memory["members"][name])
        self._errors = [list(errors) for errors in memory["errors"]]
        self._scored = list(memory["scored"])
        self._misses, self._peaks = (
            [Misses(kept.nominal, misses) for kept, misses in zip(self._misses, memory[name], strict=True)]
            for name in ("misses", "peaks")
        )
        self._pending = [
            Pending(due, number, list(said), mean, peak) for due, number, said, mean, peak in memory["pending"]
        ]
        self._usual, self._rate, self._asked = memory["usual"], memory["rate"], list(memory["asked"])
        self._began = memory.get("began", self.learnt_until)  # older stores do not have it


def _share(miss: float, scale: float) -> float:
    return (
        min(max(miss / scale, -MOST), MOST) if scale > abs(miss) / MOST else math.copysign(MOST, miss) if miss else 0.0
    )


def _horizon(seconds: float) -> int:
    """The number of the first horizon that is as far."""
    return min(bisect_left(HORIZONS, seconds - 1e-6), len(HORIZONS) - 1)
