"""Expected improvement: how much better than the best known a point may turn out, on average.

Glossary (AuTraScale, equations 5 to 7):

    mu, sigma  mean and deviation that a surrogate model predicts at a point
    f_best     best value known
    xi         how much of an improvement is not worth a trial: the larger, the more is explored
    K          mu - f_best - xi
    Z          K / sigma
"""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np
from scipy.special import ndtr

from penstock.performance.bayesian.matern import Floats
from penstock.performance.bayesian.moves import Moves

XI = 0.01
"""The default of xi."""
CERTAIN = 1e-12
"""A deviation below this counts as 0: scores are of the order of 1."""


class Surrogate(Protocol):
    """A model that stands in for a function that is expensive to evaluate."""

    def predict(self, points: Floats) -> tuple[Floats, Floats]:
        """The mean and the deviation at `points` (m, d)."""

    def predict_moves(self, moves: Moves) -> tuple[Floats, Floats]:
        """The same for points with one coordinate changed, which a model may be able to compute faster."""


def expected_improvement(mu: Floats, sigma: Floats, f_best: float, xi: float = XI) -> Floats:
    """Equation 5: K Phi(Z) + sigma phi(Z); 0 where the model is certain.

    >>> expected_improvement(np.array([0.9, 0.9]), np.array([0.1, 0.0]), f_best=0.89).round(6).tolist()
    [0.039894, 0.0]
    """
    k = mu - f_best - xi
    certain = sigma < CERTAIN
    z = np.clip(k / np.where(certain, 1.0, sigma), -40.0, 40.0)  # beyond, Phi is 0 or 1 and phi is 0 anyway
    density = np.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
    return np.where(certain, 0.0, np.maximum(k * ndtr(z) + sigma * density, 0.0))
