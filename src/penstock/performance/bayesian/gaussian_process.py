"""Gaussian process regression with a Matern kernel: a mean and a deviation for every point, from few samples.

Glossary (AuTraScale+, equation 5), n samples of d coordinates:

    X   (n, d) inputs, each coordinate within about [0, 1]
    y   (n,)   outputs, shifted and scaled to mean 0 and deviation 1
    K   (n, n) amplitude * correlation + noise on the diagonal;  K = L L^T
    w   (n,)   K^-1 y
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular

from penstock.performance.bayesian.marginal_likelihood import Hyperparameters, covariance, most_likely
from penstock.performance.bayesian.matern import Floats, check_smoothness, correlation
from penstock.performance.bayesian.moves import Moves
from penstock.performance.bayesian.one_thread import one_thread

CHUNK = 512
"""This many points are predicted together: their matrices stay in the processor's cache."""


@dataclass(frozen=True)
class GaussianProcess:
    """The posterior, given samples and hyperparameters.

    >>> x = np.linspace(0, 1, 6)[:, None]
    >>> mean, deviation = GaussianProcess.fit(x, np.sin(3 * x[:, 0])).predict(np.array([[0.5], [2.0]]))
    >>> bool(abs(mean[0] - np.sin(1.5)) < 0.01), bool(deviation[0] < 0.01 < deviation[1])
    (True, True)
    """

    inputs: Floats
    outputs: Floats
    hyperparameters: Hyperparameters
    nu: float = 2.5

    @classmethod
    def fit(cls, inputs: Floats, outputs: Floats, nu: float = 2.5) -> GaussianProcess:
        """The most likely model; it is deterministic for the same samples."""
        check_smoothness(nu)
        shift, scale = standard(outputs)
        with one_thread():
            return cls(inputs, outputs, most_likely(inputs, (outputs - shift) / scale, nu), nu)

    def __len__(self) -> int:
        return len(self.outputs)

    @cached_property
    def _standard(self) -> tuple[float, float]:
        return standard(self.outputs)

    @cached_property
    def _factor(self) -> Floats:
        return cholesky(covariance(self.inputs, self.hyperparameters, self.nu), lower=True)

    @cached_property
    def _whitener(self) -> Floats:
        """L^-1, so that many points cost one matrix product instead of a triangular solution each."""
        return solve_triangular(self._factor, np.eye(len(self)), lower=True, check_finite=False)

    @cached_property
    def _weights(self) -> Floats:
        shift, scale = self._standard
        return cho_solve((self._factor, True), (self.outputs - shift) / scale, check_finite=False)

    def predict(self, points: Floats) -> tuple[Floats, Floats]:
        """The mean and the standard deviation of the function itself (without noise) at `points` (m, d)."""
        mean, deviation = np.empty(len(points)), np.empty(len(points))
        for start in range(0, len(points), CHUNK):
            part = slice(start, start + CHUNK)
            mean[part], deviation[part] = self._posterior(self._squared_distances(points[part]))
        return mean, deviation

    def predict_moves(self, moves: Moves) -> tuple[Floats, Floats]:
        """The same for points with one coordinate changed.

        A move from a to t along a coordinate changes the squared distance from x by (t - a) (t + a - 2 x): one term
        instead of d.
        """
        mean, deviation = np.empty(len(moves)), np.empty(len(moves))
        before, (scaled, _) = self._squared_distances(moves.points), self._scaled
        for part, some in moves.chunks(CHUNK):
            lengths = self.hyperparameters.lengths[some.coordinate]
            a, t = some.start / lengths, some.target / lengths
            distances = scaled[:, some.coordinate]  # (n, m)
            distances *= -2.0
            distances += t + a
            distances *= t - a
            distances += before[:, some.origin]
            mean[part], deviation[part] = self._posterior(np.maximum(distances, 0.0, out=distances))
        return mean, deviation

    def _posterior(self, squared_distances: Floats) -> tuple[Floats, Floats]:
        """The mean and the deviation at points with these scaled squared distances (n, m) to the samples."""
        theta = self.hyperparameters
        shift, scale = self._standard
        near = correlation(squared_distances, self.nu)
        near *= theta.amplitude
        explained = self._whitener @ near
        variance = theta.amplitude - np.einsum("ij,ij->j", explained, explained)
        return shift + scale * (self._weights @ near), scale * np.sqrt(np.maximum(variance, 0.0))

    @cached_property
    def _scaled(self) -> tuple[Floats, Floats]:
        scaled = self.inputs / self.hyperparameters.lengths
        return scaled, np.einsum("ij,ij->i", scaled, scaled)

    def _squared_distances(self, points: Floats) -> Floats:
        """The scaled squared distances (n, m), as |p|^2 - 2 p q + |q|^2: one matrix product."""
        scaled, norms = self._scaled
        points = points / self.hyperparameters.lengths
        distances = scaled @ points.T
        distances *= -2.0
        distances += norms[:, None]
        distances += np.einsum("ij,ij->i", points, points)
        return np.maximum(distances, 0.0, out=distances)


def standard(outputs: Floats) -> tuple[float, float]:
    """The mean and the deviation of the outputs; the deviation is 1 where they are all the same."""
    deviation = float(np.std(outputs))
    return float(np.mean(outputs)), deviation if deviation > 1e-12 else 1.0
