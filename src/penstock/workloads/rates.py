"""Rate curves made of formulas: what the demo, the tests and the papers' experiments feed their jobs."""

from __future__ import annotations

import math

from penstock.simulator.trace import Trace


def constant(rate: float, seconds: float) -> Trace:
    return Trace("constant", (0.0, seconds), (rate, rate))


def steps(rates: tuple[float, ...], seconds: float, name: str = "steps") -> Trace:
    """Each rate for `seconds`, one after the other.

    >>> steps((10.0, 20.0), 60.0).times
    (0.0, 60.0, 60.0, 120.0)
    """
    times = [(index + end) * seconds for index in range(len(rates)) for end in (0, 1)]
    return Trace(name, tuple(times), tuple(rate for rate in rates for _ in (0, 1)))


def surge(low: float, high: float, seconds: float) -> Trace:
    """Calm, a steep rise to `high`, a stay there, and a slower way back: the noon of a day."""
    points = ((0.0, low), (0.2, low), (0.3, high), (0.5, high), (0.7, low), (1.0, low))
    return Trace("surge", tuple(part * seconds for part, _ in points), tuple(rate for _, rate in points))


def daily(low: float, high: float, days: float = 1.0, points_per_day: int = 288) -> Trace:
    """A sine that is lowest at midnight and highest at noon."""
    count = max(2, round(days * points_per_day) + 1)
    times = tuple(86_400.0 * days * index / (count - 1) for index in range(count))
    middle, swing = (low + high) / 2, (high - low) / 2
    return Trace("daily", times, tuple(middle - swing * math.cos(2 * math.pi * t / 86_400.0) for t in times))
