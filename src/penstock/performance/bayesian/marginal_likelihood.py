"""How well hyperparameters explain samples, and those that explain them best: the fit of a Gaussian process.

Glossary, n samples of d coordinates:

    X   (n, d) inputs, each coordinate within about [0, 1]
    y   (n,)   outputs, shifted and scaled to mean 0 and deviation 1
    K   (n, n) amplitude * correlation + noise on the diagonal;  K = L L^T
    w   (n,)   K^-1 y
    B   (n, n) K^-1
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri
from scipy.optimize import minimize

from penstock.performance.bayesian.matern import Floats, correlation, correlation_and_slope

LENGTH_BOUNDS = (0.05, 20.0)  # of a coordinate whose whole range is about 1
AMPLITUDE_BOUNDS = (1e-2, 1e2)  # variance, where the outputs have variance 1
# Variance, likewise. The lowest keeps K well-conditioned; the highest keeps a handful of samples from being taken
# for noise altogether, which would end all search.
NOISE_BOUNDS = (1e-6, 0.1)

START_LENGTHS = (0.3, 1.0, 3.0)
START_NOISES = (1e-4, 1e-1)
CLIMBS = 2
"""The likelihood has several maxima: a fit climbs from the two best of these starts and keeps the better end.

With no more samples than coordinates there is a single maximum, which one climb finds.
"""

MOST_STEPS = 60
GAIN = 1e-5
"""A climb ends when the likelihood gains less than this share: no decision depends on less."""


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


def squared_distances(scaled: Floats) -> Floats:
    """The squared distances between all samples (n, n), as |p|^2 - 2 p q + |q|^2, with an exact 0 on the diagonal."""
    norms = np.einsum("ij,ij->i", scaled, scaled)
    distances = scaled @ scaled.T
    distances *= -2.0
    distances += norms[:, None]
    distances += norms
    np.maximum(distances, 0.0, out=distances)
    distances.flat[:: len(scaled) + 1] = 0.0
    return distances


def covariance(inputs: Floats, theta: Hyperparameters, nu: float) -> Floats:
    matrix = theta.amplitude * correlation(squared_distances(inputs / theta.lengths), nu)
    matrix.flat[:: len(inputs) + 1] += theta.noise
    return matrix


def log_likelihood(inputs: Floats, y: Floats, theta: Hyperparameters, nu: float) -> tuple[float, Floats]:
    """The log marginal likelihood of y, and its gradient by the logarithms of lengths, amplitude and noise."""
    n, d = inputs.shape
    scaled = inputs / theta.lengths
    correlated, slope = correlation_and_slope(squared_distances(scaled), nu)
    matrix = theta.amplitude * correlated
    matrix.flat[:: n + 1] += theta.noise
    factor, failed = dpotrf(matrix.T, lower=1, overwrite_a=1)  # the transpose is Fortran's order: nothing is copied
    assert not failed  # the noise's lower bound keeps K positive definite
    value = -float(np.log(factor.diagonal()).sum()) - 0.5 * n * math.log(2.0 * math.pi)
    half, _ = dpotri(factor, lower=1, overwrite_c=1)  # the lower half of B, and zeros above
    inverse = half + half.T
    inverse.flat[:: n + 1] *= 0.5
    weights = inverse @ y
    value -= 0.5 * float(y @ weights)

    # d value / d theta = 1/2 trace((w w^T - B) dK/dtheta)
    pull = np.multiply.outer(weights, weights)
    pull -= inverse
    gradient = np.empty(d + 2)
    gradient[-1] = 0.5 * theta.noise * pull.trace()
    pull *= 0.5 * theta.amplitude
    gradient[-2] = np.vdot(pull, correlated)
    # Along coordinate i, dK/dlog(length_i) = amplitude g(r2) (x_ai - x_bi)^2. The double sum over pairs (a, b)
    # unfolds into two matrix products, so the cost is linear in d.
    pull *= slope
    gradient[:d] = 2.0 * (pull.sum(axis=1) @ scaled**2 - (scaled * (pull @ scaled)).sum(axis=0))
    return value, gradient


def most_likely(inputs: Floats, y: Floats, nu: float) -> Hyperparameters:
    """The hyperparameters of the highest marginal likelihood, climbing from the best of a few fixed starts."""
    n, d = inputs.shape
    values = [LENGTH_BOUNDS] * d + [AMPLITUDE_BOUNDS, NOISE_BOUNDS]
    bounds = [(math.log(low), math.log(high)) for low, high in values]

    def loss(x: Floats) -> tuple[float, Floats]:
        value, gradient = log_likelihood(inputs, y, Hyperparameters.from_logarithms(x), nu)
        return -value, -gradient

    starts = [
        np.clip(Hyperparameters(np.full(d, length * math.sqrt(d)), 1.0, noise).to_logarithms(), *np.transpose(bounds))
        for length in START_LENGTHS
        for noise in START_NOISES
    ]
    starts.sort(key=lambda start: loss(start)[0])
    ends = [
        minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": MOST_STEPS, "ftol": GAIN})
        for start in starts[: CLIMBS if n > d else 1]
    ]
    return Hyperparameters.from_logarithms(np.asarray(min(ends, key=lambda end: float(end.fun)).x, dtype=np.float64))
