"""The straight line through measurements, by least squares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum

EXACT = 1e-9
"""A rise smaller than this share of the values themselves is rounding, not a trend."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line through (x, y). It keeps a point near the data instead of an intercept: with Unix times for x, an
    intercept lies 50 years away and costs precision."""

    slope: float
    x: float
    y: float

    def at(self, x: float) -> float:
        return self.y + self.slope * (x - self.x)


def least_squares(xs: Sequence[float], ys: Sequence[float]) -> Line:
    """The line with the least squared distance to all points; it is level where the points show no trend.

    >>> line = least_squares([10, 20, 30], [100, 120, 140])
    >>> line.slope, line.at(40)
    (2.0, 160.0)
    """
    # Means as seen from the last point: equal values have that very value as their mean, to the last bit.
    x = xs[-1] + fsum(xi - xs[-1] for xi in xs) / len(xs)
    y = ys[-1] + fsum(yi - ys[-1] for yi in ys) / len(ys)
    spread = fsum((xi - x) ** 2 for xi in xs)
    if spread == 0.0:
        return Line(0.0, x, y)
    slope = fsum((xi - x) * (yi - y) for xi, yi in zip(xs, ys, strict=True)) / spread
    rise = abs(slope) * (max(xs) - min(xs))
    return Line(slope if rise > EXACT * max(map(abs, ys)) else 0.0, x, y)
