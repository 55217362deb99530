"""A normal distribution of which only an interval is possible: what a measurement says about a bounded quantity.

With x between l and h, all equally likely beforehand, and a measurement m with standard error s:

    a, b  (l - m) / s, (h - m) / s
    mean  m + s (phi(a) - phi(b)) / (Phi(b) - Phi(a))

An exact measurement gives m itself, one that says nothing the middle of the interval.
"""

from __future__ import annotations

from statistics import NormalDist

STANDARD = NormalDist()

FLAT = 1e-3
"""Over an interval of so few standard errors the density is level, and the formula would only add rounding errors."""


def truncated_mean(measured: float, error: float, low: float, high: float) -> float:
    """The mean of what is possible from `low` to `high`, in which `measured` must lie, given its standard error.

    >>> truncated_mean(3.0, 0.1, 0.0, 10.0), truncated_mean(3.0, float("inf"), 0.0, 10.0)
    (3.0, 5.0)
    """
    if error == 0 or low == high:
        return measured
    a, b = (low - measured) / error, (high - measured) / error
    if b - a < FLAT:
        return (low + high) / 2
    shift = (STANDARD.pdf(a) - STANDARD.pdf(b)) / (STANDARD.cdf(b) - STANDARD.cdf(a))
    return min(max(measured + error * shift, low), high)
