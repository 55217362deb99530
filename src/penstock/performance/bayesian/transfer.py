"""Transfer: a model of one input rate helps at another rate, for which there are few samples yet.

Glossary:

    mu_old, sigma_old  what the model of the old rate predicts
    D_c                samples really tried at the new rate; D_old those behind the old model
    residual           model of (score at the new rate - mu_old), learnt from D_c
    mu_c, sigma_c      what is predicted for the new rate
    c0, b              b = c0 |D_c| / (c0 |D_c| + |D_old|): the weight of the residual's deviation
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from penstock.performance.bayesian.gaussian_process import GaussianProcess
from penstock.performance.bayesian.matern import Floats
from penstock.performance.bayesian.moves import Moves


def residual_model(old: GaussianProcess, inputs: Floats, scores: Floats, nu: float = 2.5) -> GaussianProcess:
    """A model of what the old model leaves unexplained of the samples at the new rate (both papers, Algorithm 2)."""
    return GaussianProcess.fit(inputs, scores - old.predict(inputs)[0], nu)


def with_estimates(
    old: GaussianProcess, residual: GaussianProcess, inputs: Floats, scores: Floats, points: Floats, nu: float = 2.5
) -> GaussianProcess:
    """The traditional transfer (AuTraScale, Algorithm 2): estimates for `points` are added to the real samples.

    The estimate is mu_old + mu_residual, and one model is trained on both as if all had been run.
    """
    estimates = old.predict(points)[0] + residual.predict(points)[0]
    return GaussianProcess.fit(np.concatenate([inputs, points]), np.concatenate([scores, estimates]), nu)


@dataclass(frozen=True)
class LightweightTransfer:
    """The lightweight transfer (AuTraScale+, Algorithm 2): predicts everywhere without another training.

    mu_c = mu_old + mu_residual;  sigma_c = sigma_residual^b * sigma_old^(1 - b).
    """

    old: GaussianProcess
    residual: GaussianProcess
    c0: float = 1.0

    @property
    def weight(self) -> float:
        """b of the glossary."""
        fresh = self.c0 * len(self.residual)
        return fresh / (fresh + len(self.old))

    def predict(self, points: Floats) -> tuple[Floats, Floats]:
        return self._combined(self.old.predict(points), self.residual.predict(points))

    def predict_moves(self, moves: Moves) -> tuple[Floats, Floats]:
        return self._combined(self.old.predict_moves(moves), self.residual.predict_moves(moves))

    def _combined(self, old: tuple[Floats, Floats], residual: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
        (old_mean, old_deviation), (mean, deviation) = old, residual
        return old_mean + mean, deviation**self.weight * old_deviation ** (1.0 - self.weight)
