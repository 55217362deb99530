"""Load curves from formulas, for the demo, the tests and the papers' experiments."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from penstock.load.trace import Trace


def constant(rate: float, seconds: float) -> Trace:
    return Trace("constant", (0.0, seconds), (rate, rate))


def steps(rates: tuple[float, ...], seconds: float, name: str = "steps") -> Trace:
    """A curve that keeps each rate for `seconds`, one after the other.

    >>> steps((10.0, 20.0), 60.0).times
    (0.0, 60.0, 60.0, 120.0)
    """
    times = [(index + end) * seconds for index in range(len(rates)) for end in (0, 1)]
    return Trace(name, tuple(times), tuple(rate for rate in rates for _ in (0, 1)))


def surge(low: float, high: float, seconds: float) -> Trace:
    """A curve that stays low, rises steeply to `high`, stays there and falls more slowly, like the noon of a day."""
    points = ((0.0, low), (0.2, low), (0.3, high), (0.5, high), (0.7, low), (1.0, low))
    return Trace("surge", tuple(part * seconds for part, _ in points), tuple(rate for _, rate in points))


def daily(low: float, high: float, days: float = 1.0, points_per_day: int = 288) -> Trace:
    """A sine that is lowest at midnight and highest at noon."""
    count = max(2, round(days * points_per_day) + 1)
    times = tuple(86_400.0 * days * index / (count - 1) for index in range(count))
    middle, swing = (low + high) / 2, (high - low) / 2
    return Trace("daily", times, tuple(middle - swing * math.cos(2 * math.pi * t / 86_400.0) for t in times))


def random_walk(low: float, high: float, seconds: int, seed: int, name: str = "random_walk") -> Trace:
    """A rate that wanders between two bounds and whose speed changes little from one second to the next.

    The speed keeps nine tenths of itself each second and is reflected at the bounds. Its deviation is 1.5 % of the
    range a second: it crosses the range within a few minutes, and the next second can still be predicted.

    >>> walk = random_walk(1000.0, 3000.0, 800, seed=1)
    >>> walk.seconds, min(walk.rates) >= 1000.0, walk.peak <= 3000.0
    (800.0, True, True)
    """
    random = np.random.default_rng(seed)
    rate, speed = (low + high) / 2, 0.0
    rates = [rate]
    for push in random.normal(0.0, 0.015 * (high - low), seconds).tolist():
        speed = 0.9 * speed + push
        rate += speed
        if not low <= rate <= high:
            bound = low if rate < low else high
            rate, speed = min(max(2 * bound - rate, low), high), -speed
        rates.append(rate)
    return Trace(name, tuple(float(t) for t in range(seconds + 1)), tuple(rates))


def fluctuating(trace: Trace, every: float, deviation: float, seed: int) -> Trace:
    """The same curve with independent relative deviations at a point every `every` seconds; its mean stays.

    The factors are log-normal: rates stay positive however large the deviation is. Where the curve jumps, so does the
    result, at the same moment.

    >>> calm = constant(100.0, 600.0)
    >>> [round(rate) for rate in fluctuating(calm, 300.0, 0.1, seed=1).rates]
    [103, 108, 103]
    """
    count = max(2, round(trace.seconds / every) + 1)
    grid = np.linspace(0.0, trace.seconds, count)
    factors = np.exp(np.random.default_rng(seed).normal(-(deviation**2) / 2, deviation, count))
    own = np.array(trace.times) - trace.times[0]
    jumps = np.flatnonzero(np.diff(own) == 0.0)
    sides = np.union1d(jumps, jumps + 1)  # the points before and after each jump
    smooth = grid[~np.isin(grid, own[jumps])]
    times = np.concatenate([smooth, own[sides]])
    rates = np.concatenate([trace.at(smooth), np.array(trace.rates)[sides]]) * np.interp(times, grid, factors)
    order = np.argsort(times, kind="stable")
    return Trace(trace.name, tuple(times[order].tolist()), tuple(rates[order].tolist()))


CURVES: Mapping[str, Callable[[float], Trace]] = {
    "constant": lambda peak: constant(peak, 3600.0),
    "steps": lambda peak: steps((0.2 * peak, 0.6 * peak, peak, 0.4 * peak), 900.0),
    "surge": lambda peak: surge(0.2 * peak, peak, 3600.0),
    "daily": lambda peak: daily(0.2 * peak, peak),
    "random_walk": lambda peak: random_walk(0.2 * peak, peak, 3600, seed=0),
}
"""Curves for comparing policies on any job, by name, made for a peak in records per second."""
