"""What one record takes at one operator, by the number of its instances: learnt as windows come, with forgetting.

Glossary:

    s(k)    useful seconds of one record with k instances
    line    s(k) = y + b (k - x), the weighted least-squares line through what was measured; b >= 0, since instances
            may be in each other's way (a lock, a store, a cap outside) and never help each other
    recent  what the last minute's records took, as a multiple of the curve: a job that slows down is followed at once

A slope of 0 is believed until it is refuted: it counts like measurements with the noise NOISE and a slope of about
SLOPE of s an instance.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

FADE = 0.995
"""What a window counts for after the next one."""

RECENT = 0.1
"""How much of the newest window goes into `recent`."""

NOISE, SLOPE = 0.05, 0.02

OWN = 4.0
"""Windows after which a number of instances is believed half by what was measured with it, half by the line."""

FURTHEST = 2.0
"""Up to this many times the most instances seen, and down to that part of the fewest, the curve is known."""

KEPT = 24
"""So many numbers of instances are remembered: those that were measured most, and most recently."""


class ServiceCurve:
    """The curve of one operator.

    >>> curve = ServiceCurve()
    >>> for k, seconds in ((1, 0.010), (2, 0.011), (4, 0.013)):
    ...     for _ in range(40):
    ...         curve.learn(k, seconds)
    >>> round(curve.at(3), 4), round(curve.at(6), 4), curve.knows(6), curve.knows(9)
    (0.012, 0.0149, True, False)
    """

    def __init__(self) -> None:
        self._seen: dict[int, list[float]] = {}  # weight and mean for each number of instances
        self._variance = NOISE**2
        self._count = 0
        self._recent = 1.0
        self._fit()

    def __bool__(self) -> bool:
        """Whether anything was measured."""
        return bool(self._seen)

    def learn(self, k: int, seconds: float) -> None:
        """Take in what a record took in one window with k instances."""
        if self._seen:
            miss = seconds / self.settled(k) - 1.0
            self._recent += RECENT * (1.0 + miss - self._recent)
            self._count += 1
            self._variance += max(1 / (self._count + 5), 1 - FADE) * (min(miss * miss, 0.25) - self._variance)
        for each in self._seen.values():
            each[0] *= FADE
        weight, mean = self._seen.get(k, (0.0, seconds))
        self._seen[k] = [weight + 1.0, mean + (seconds - mean) / (weight + 1.0)]
        if len(self._seen) > KEPT:
            del self._seen[min(self._seen.keys() - {k}, key=lambda each: self._seen[each][0])]
        self._fit()

    def _fit(self) -> None:
        whole = sum(weight for weight, _ in self._seen.values())
        if not whole:
            self._x = self._y = self._slope = self._error = 0.0
            return
        self._x = sum(weight * k for k, (weight, _) in self._seen.items()) / whole
        self._y = sum(weight * mean for weight, mean in self._seen.values()) / whole
        spread = sum(weight * (k - self._x) ** 2 for k, (weight, _) in self._seen.items())
        rise = sum(weight * (k - self._x) * (mean - self._y) for k, (weight, mean) in self._seen.items())
        known = spread + (NOISE / SLOPE) ** 2
        self._slope = max(0.0, rise / known)
        self._error = self.noise / math.sqrt(known)  # of the slope, as a share of y

    @property
    def noise(self) -> float:
        """The standard deviation of one window, as a share of what it should have shown."""
        return math.sqrt(self._variance)

    @property
    def fewest(self) -> int:
        return min(self._seen)

    @property
    def most(self) -> int:
        return max(self._seen)

    def at(self, k: int) -> float:
        """Seconds of one record with k instances, by now."""
        return self.settled(k) * self._recent

    def settled(self, k: int) -> float:
        """The same without what only the last minute showed."""
        line = max(self._y + self._slope * (k - self._x), 0.1 * self._y)
        weight, mean = self._seen.get(k, (0.0, line))
        return line + weight / (weight + OWN) * (mean - line)

    def error(self, k: int) -> float:
        """The standard error of `at`, as a share of it."""
        weight = self._seen[k][0] if k in self._seen else 0.0
        nearest = min((abs(k - each) for each in self._seen), default=k)
        return math.hypot(self.noise / math.sqrt(1.0 + weight), self._error * nearest)

    def knows(self, k: int) -> bool:
        """Whether k is near enough to what was seen."""
        return bool(self._seen) and self.fewest / FURTHEST <= k <= self.most * FURTHEST

    def state(self) -> dict[str, Any]:
        return {
            "seen": [[k, weight, mean] for k, (weight, mean) in self._seen.items()],
            "variance": self._variance, "count": self._count, "recent": self._recent,
        }  # fmt: skip

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> ServiceCurve:
        curve = cls()
        curve._seen = {k: [weight, mean] for k, weight, mean in state["seen"]}
        curve._variance, curve._count, curve._recent = state["variance"], state["count"], state["recent"]
        curve._fit()
        return curve
