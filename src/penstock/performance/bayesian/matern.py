"""The Matern covariance kernel, as smooth as `nu` says, and how it changes with its length scales.

Glossary:

    r2      squared distance of two points after each coordinate was divided by its length scale
    a       sqrt(2 nu) * r
    k(r2)   correlation of the two points: 1 at the same place, falling to 0
    g(r2)   slope factor: dk / dlog(length_i) = g(r2) * (squared distance along i, scaled)
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from penstock.model import InvalidValueError

Floats: TypeAlias = NDArray[np.float64]

SMOOTHNESS = (1.5, 2.5)
"""The values of nu for which the kernel is a polynomial times an exponential, and differentiable."""


def check_smoothness(nu: float) -> None:
    if nu not in SMOOTHNESS:
        raise InvalidValueError("nu", f"must be one of {SMOOTHNESS}, not {nu!r}")


def correlation(r2: Floats, nu: float = 2.5) -> Floats:
    """The correlation k(r2).

    >>> correlation(np.array([0.0, 1.0])).round(6).tolist()
    [1.0, 0.523994]
    """
    a = np.sqrt(2.0 * nu * r2)
    decay = np.exp(-a)
    if nu == 1.5:
        return np.asarray((1.0 + a) * decay)
    a *= 1.0 + a / 3.0  # a + a^2 / 3, in place: with many candidates this line is where the time goes
    a += 1.0
    return np.asarray(np.multiply(a, decay, out=a))


def correlation_and_slope(r2: Floats, nu: float = 2.5) -> tuple[Floats, Floats]:
    """k(r2) and g(r2), which share their exponential. g is finite at r2 = 0, as the distance cancels out."""
    a = np.sqrt(2.0 * nu * r2)
    decay = np.exp(-a)
    if nu == 1.5:
        return (1.0 + a) * decay, 3.0 * decay
    slope = (1.0 + a) * decay
    return slope + (a * a / 3.0) * decay, (5.0 / 3.0) * slope
