"""Gaussian process regression with a Matern kernel: a mean and a deviation for every point, from few samples.

Glossary (AuTraScale+, equation 5), n samples of d coordinates:

    X   (n, d) inputs, each coordinate within about [0, 1]
    y   (n,)   outputs, shifted and scaled to mean 0 and deviation 1
    K   (n, n) amplitude * correlation + noise on the diagonal;  K = L L^T
    w   (n,)   K^-1 y
    B   (n, n) K^-1

What a fit chooses (length scale of each coordinate, amplitude, noise) maximises the marginal likelihood of y.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular
from scipy.linalg.lapack import dpotrf, dpotri
from scipy.optimize import minimize
from scipy.spatial.distance import cdist

from penstock.performance.matern import Floats, check_smoothness, correlation, correlation_and_slope

LENGTH_BOUNDS = (0.05, 20.0)  # of a coordinate whose whole range is about 1
AMPLITUDE_BOUNDS = (1e-2, 1e2)  # variance, where the outputs have variance 1
# Variance, likewise. The lowest keeps K well-conditioned; the highest keeps a handful of samples from being taken
# for noise altogether, which would end all search.
NOISE_BOUNDS = (1e-6, 0.1)

START_LENGTHS = (0.3, 1.0, 3.0)
START_NOISES = (1e-4, 1e-1)
CLIMBS = 2
"""The likelihood has several hills: a fit climbs from the two highest of these starts and keeps the better end."""

MOST_STEPS = 60
GAIN = 1e-5
"""Relative gain in likelihood below which a climb ends: no decision turns on less."""
CHUNK = 4096
"""Points predicted at a time: a chunk's matrices stay in the processor's cache."""


@dataclass(frozen=True)
class Hyperparameters:
    """What the kernel is made of: a length scale for each coordinate, and two variances."""

    lengths: Floats
    amplitude: float
    noise: float

    def to_logarithms(self) -> Floats:
        return np.asarray(np.log(np.append(self.lengths, (self.amplitude, self.noise))))

    @classmethod
    def from_logarithms(cls, logarithms: Floats) -> Hyperparameters:
        values = np.exp(logarithms)
        return cls(values[:-2], float(values[-2]), float(values[-1]))


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
        """The most likely model; the same one for the same samples, always."""
        check_smoothness(nu)
        shift, scale = standard(outputs)
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
        """L^-1: many points then cost one matrix product, not one triangular solution each."""
        return solve_triangular(self._factor, np.eye(len(self)), lower=True, check_finite=False)

    @cached_property
    def _weights(self) -> Floats:
        shift, scale = self._standard
        return cho_solve((self._factor, True), (self.outputs - shift) / scale, check_finite=False)

    def predict(self, points: Floats) -> tuple[Floats, Floats]:
        """Mean and standard deviation of the function itself (without noise) at `points` (m, d)."""
        mean, deviation = np.empty(len(points)), np.empty(len(points))
        for start in range(0, len(points), CHUNK):
            part = slice(start, start + CHUNK)
            mean[part], deviation[part] = self._predict(points[part])
        return mean, deviation

    def _predict(self, points: Floats) -> tuple[Floats, Floats]:
        theta = self.hyperparameters
        shift, scale = self._standard
        near = theta.amplitude * correlation(self._squared_distances(points), self.nu)  # (n, m)
        explained = self._whitener @ near
        variance = theta.amplitude - np.einsum("ij,ij->j", explained, explained)
        return shift + scale * (self._weights @ near), scale * np.sqrt(np.maximum(variance, 0.0))

    @cached_property
    def _scaled(self) -> tuple[Floats, Floats]:
        scaled = self.inputs / self.hyperparameters.lengths
        return scaled, np.einsum("ij,ij->i", scaled, scaled)

    def _squared_distances(self, points: Floats) -> Floats:
        """(n, m), as |p|^2 - 2 p q + |q|^2: a matrix product, exact enough where the kernel is flat in r2."""
        scaled, norms = self._scaled
        points = points / self.hyperparameters.lengths
        distances = scaled @ points.T
        distances *= -2.0
        distances += norms[:, None]
        distances += np.einsum("ij,ij->i", points, points)
        return np.maximum(distances, 0.0, out=distances)


def standard(outputs: Floats) -> tuple[float, float]:
    """Mean and deviation of the outputs; a deviation of 1 where they are all the same."""
    deviation = float(np.std(outputs))
    return float(np.mean(outputs)), deviation if deviation > 1e-12 else 1.0


def covariance(inputs: Floats, theta: Hyperparameters, nu: float) -> Floats:
    scaled = inputs / theta.lengths
    matrix = theta.amplitude * correlation(cdist(scaled, scaled, "sqeuclidean"), nu)
    matrix[np.diag_indices_from(matrix)] += theta.noise
    return matrix


def log_likelihood(inputs: Floats, y: Floats, theta: Hyperparameters, nu: float) -> tuple[float, Floats]:
    """Log marginal likelihood of y, and its gradient by the logarithms of lengths, amplitude and noise."""
    n = len(y)
    scaled = inputs / theta.lengths
    correlated, slope = correlation_and_slope(cdist(scaled, scaled, "sqeuclidean"), nu)
    matrix = theta.amplitude * correlated
    matrix.flat[:: n + 1] += theta.noise
    factor, failed = dpotrf(matrix, lower=1, overwrite_a=1)
    assert not failed  # the noise's lower bound keeps K positive definite
    half, _ = dpotri(factor, lower=1)  # the lower half of B, and zeros above
    inverse = half + half.T
    inverse.flat[:: n + 1] *= 0.5
    weights = inverse @ y
    value = -0.5 * float(y @ weights) - float(np.log(factor.diagonal()).sum()) - 0.5 * n * math.log(2.0 * math.pi)

    # d value / d theta = 1/2 trace((w w^T - B) dK/dtheta)
    pull = np.multiply.outer(weights, weights) - inverse
    by_noise = 0.5 * theta.noise * float(pull.trace())
    pull *= 0.5 * theta.amplitude
    by_amplitude = float(np.vdot(pull, correlated))
    # Along coordinate i, dK/dlog(length_i) = amplitude g(r2) (x_ai - x_bi)^2. The double sum over pairs (a, b)
    # unfolds into two matrix products, so the cost is linear in d.
    pull *= slope
    by_lengths = 2.0 * (pull.sum(axis=1) @ scaled**2 - (scaled * (pull @ scaled)).sum(axis=0))
    return value, np.append(by_lengths, (by_amplitude, by_noise))


def most_likely(inputs: Floats, y: Floats, nu: float) -> Hyperparameters:
    """Hyperparameters of the highest marginal likelihood, climbing from the best of a few fixed starts."""
    d = inputs.shape[1]
    loss = _loss(inputs, y, nu)
    bounds = [(math.log(low), math.log(high)) for low, high in [LENGTH_BOUNDS] * d + [AMPLITUDE_BOUNDS, NOISE_BOUNDS]]
    starts = [
        np.clip(Hyperparameters(np.full(d, length * math.sqrt(d)), 1.0, noise).to_logarithms(), *np.transpose(bounds))
        for length in START_LENGTHS
        for noise in START_NOISES
    ]
    starts.sort(key=lambda start: loss(start)[0])
    climbs = [
        minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": MOST_STEPS, "ftol": GAIN})
        for start in starts[:CLIMBS]
    ]
    best = min(climbs, key=lambda climb: float(climb.fun))
    return Hyperparameters.from_logarithms(np.asarray(best.x, dtype=np.float64))


def _loss(inputs: Floats, y: Floats, nu: float) -> Callable[[Floats], tuple[float, Floats]]:
    def loss(logarithms: Floats) -> tuple[float, Floats]:
        value, gradient = log_likelihood(inputs, y, Hyperparameters.from_logarithms(logarithms), nu)
        return -value, -gradient

    return loss
