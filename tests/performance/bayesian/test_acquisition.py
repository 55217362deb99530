"""Expected improvement is what its name says: the mean of max(0, improvement)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from penstock.performance.bayesian.acquisition import expected_improvement


@pytest.mark.parametrize("mu", [0.2, 0.85, 0.95, 1.3])
@pytest.mark.parametrize("sigma", [0.02, 0.1, 0.7])
def test_it_is_the_integral_of_the_improvement(mu: float, sigma: float) -> None:
    f_best, xi = 0.9, 0.01
    top = max(mu, f_best + xi) + 12 * sigma
    expected, _ = quad(
        lambda f: (f - f_best - xi) * norm.pdf(f, mu, sigma), f_best + xi, top, epsabs=1e-12, points=[mu] * (mu > 0.91)
    )
    assert expected_improvement(np.array([mu]), np.array([sigma]), f_best, xi)[0] == pytest.approx(expected, abs=1e-9)


def test_it_is_equation_5_with_scipys_normal_distribution() -> None:
    rng = np.random.default_rng(0)
    mu, sigma = rng.random(200), rng.random(200) * 0.3
    k = mu - 0.8 - 0.01
    expected = k * norm.cdf(k / sigma) + sigma * norm.pdf(k / sigma)
    np.testing.assert_allclose(expected_improvement(mu, sigma, 0.8), expected, atol=1e-15)


def test_where_nothing_is_uncertain_nothing_is_expected() -> None:
    assert expected_improvement(np.array([5.0]), np.array([0.0]), 0.9)[0] == 0.0


@given(mu=st.floats(-2, 2), sigma=st.floats(0, 2), f_best=st.floats(-2, 2))
def test_it_is_never_negative_and_never_below_the_mean_improvement(mu: float, sigma: float, f_best: float) -> None:
    value = float(expected_improvement(np.array([mu]), np.array([sigma]), f_best)[0])
    assert value >= 0.0
    assert math.isfinite(value)
    if sigma > 1e-6:
        assert value >= mu - f_best - 0.01 - 1e-9
