"""The Gaussian process against scikit-learn's and against finite differences."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.optimize import check_grad
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

from penstock.model import InvalidValueError
from penstock.performance.bayesian.gaussian_process import GaussianProcess, standard
from penstock.performance.bayesian.marginal_likelihood import Hyperparameters, log_likelihood
from penstock.performance.bayesian.matern import Floats, correlation, correlation_and_slope
from penstock.performance.bayesian.moves import Moves


def some_samples(n: int, d: int, seed: int = 3) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    inputs = rng.random((n, d))
    return inputs, np.sin(4 * inputs[:, 0]) + 0.3 * inputs[:, -1] ** 2 + rng.normal(0, 0.05, n)


@pytest.mark.parametrize("nu", [1.5, 2.5])
@pytest.mark.parametrize(("n", "d"), [(3, 1), (12, 4), (25, 10)])
def test_mean_and_deviation_are_those_of_scikit_learn(n: int, d: int, nu: float) -> None:
    inputs, outputs = some_samples(n, d)
    theta = Hyperparameters(np.linspace(0.4, 2.0, d), 1.7, 0.01)
    ours = GaussianProcess(inputs, outputs, theta, nu)
    shift, scale = standard(outputs)
    kernel = ConstantKernel(theta.amplitude) * Matern(theta.lengths, nu=nu)
    theirs = GaussianProcessRegressor(kernel, alpha=theta.noise, optimizer=None).fit(inputs, (outputs - shift) / scale)
    points = np.concatenate([inputs, np.random.default_rng(0).random((5000, d)) * 2 - 0.5])
    mean, deviation = theirs.predict(points, return_std=True)
    np.testing.assert_allclose(ours.predict(points)[0], shift + scale * mean, atol=1e-9)
    np.testing.assert_allclose(ours.predict(points)[1], scale * deviation, atol=1e-7)


def test_the_likelihood_is_that_of_scikit_learn() -> None:
    inputs, outputs = some_samples(12, 4)
    theta = Hyperparameters(np.linspace(0.4, 2.0, 4), 1.7, 0.01)
    kernel = ConstantKernel(theta.amplitude) * Matern(theta.lengths, nu=2.5)
    theirs = GaussianProcessRegressor(kernel, alpha=theta.noise, optimizer=None).fit(inputs, outputs)
    value, gradient = log_likelihood(inputs, outputs, theta, 2.5)
    expected, expected_gradient = theirs.log_marginal_likelihood(theirs.kernel_.theta, eval_gradient=True)
    assert value == pytest.approx(expected)
    np.testing.assert_allclose(gradient[[4, 0, 1, 2, 3]], expected_gradient, rtol=1e-8)  # theirs: amplitude first


@pytest.mark.parametrize("nu", [1.5, 2.5])
def test_the_gradient_is_that_of_finite_differences(nu: float) -> None:
    inputs, outputs = some_samples(15, 3)
    at = np.log([0.5, 0.9, 1.4, 1.2, 0.03])

    def value(logarithms: Floats) -> float:
        return log_likelihood(inputs, outputs, Hyperparameters.from_logarithms(logarithms), nu)[0]

    def gradient(logarithms: Floats) -> Floats:
        return log_likelihood(inputs, outputs, Hyperparameters.from_logarithms(logarithms), nu)[1]

    assert check_grad(value, gradient, at) < 1e-4


@pytest.mark.parametrize(("n", "d"), [(16, 3), (3, 10), (10, 10)])
def test_a_fit_is_at_least_as_likely_as_scikit_learns_with_restarts(n: int, d: int) -> None:
    inputs, outputs = some_samples(n, d)
    shift, scale = standard(outputs)
    y = (outputs - shift) / scale
    kernel = ConstantKernel(1.0, (1e-2, 1e2)) * Matern([1.0] * d, [(0.05, 20)] * d, nu=2.5) + WhiteKernel(
        1e-2, (1e-6, 0.1)
    )
    theirs = GaussianProcessRegressor(kernel, alpha=0.0, n_restarts_optimizer=3, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of a hyperparameter at its bound
        theirs.fit(inputs, y)
    ours = GaussianProcess.fit(inputs, outputs)
    value, _ = log_likelihood(inputs, y, ours.hyperparameters, 2.5)
    assert value >= theirs.log_marginal_likelihood_value_ - 0.05


def test_a_fit_finds_out_which_coordinate_matters() -> None:
    rng = np.random.default_rng(1)
    inputs = rng.random((20, 3))
    lengths = GaussianProcess.fit(inputs, np.sin(6 * inputs[:, 1])).hyperparameters.lengths
    assert lengths[1] < 0.5 * min(lengths[0], lengths[2])


@pytest.mark.parametrize(("n", "d"), [(3, 1), (12, 4), (40, 30)])
def test_a_move_is_predicted_as_the_point_it_leads_to(n: int, d: int) -> None:
    inputs, outputs = some_samples(n, d)
    model = GaussianProcess(inputs, outputs, Hyperparameters(np.linspace(0.4, 2.0, d), 1.7, 0.01))
    rng = np.random.default_rng(5)
    points = np.concatenate([inputs[:2], rng.random((3, d))])
    m = 2500  # more than are predicted at a time
    moves = Moves(points, rng.integers(0, 5, m), rng.integers(0, d, m), rng.random(m))
    mean, deviation = model.predict_moves(moves)
    expected_mean, expected_deviation = model.predict(moves.written_out())
    np.testing.assert_allclose(mean, expected_mean, atol=1e-10)
    np.testing.assert_allclose(deviation, expected_deviation, atol=1e-7)


def test_a_fit_is_the_same_every_time() -> None:
    inputs, outputs = some_samples(12, 4)
    first, second = GaussianProcess.fit(inputs, outputs), GaussianProcess.fit(inputs.copy(), outputs.copy())
    assert first.hyperparameters.to_logarithms().tolist() == second.hyperparameters.to_logarithms().tolist()


@pytest.mark.parametrize("outputs", [[0.7], [0.7, 0.7, 0.7]])
def test_few_or_equal_samples_still_make_a_model(outputs: list[float]) -> None:
    inputs = np.linspace(0, 1, len(outputs))[:, None]
    mean, deviation = GaussianProcess.fit(inputs, np.array(outputs)).predict(np.array([[0.0], [5.0]]))
    np.testing.assert_allclose(mean, 0.7)
    assert 0 <= deviation[0] < deviation[1]


def test_the_kernel_and_its_slope_agree_with_the_kernel_alone() -> None:
    r2 = np.linspace(0, 9, 50)
    for nu in (1.5, 2.5):
        k, slope = correlation_and_slope(r2, nu)
        np.testing.assert_allclose(k, correlation(r2, nu))
        # dk/dlog(length) = -2 r2 dk/dr2 = g r2 in one dimension
        numeric = -2 * (correlation(r2[1:] + 1e-6, nu) - correlation(r2[1:] - 1e-6, nu)) / 2e-6
        np.testing.assert_allclose(slope[1:], numeric, rtol=1e-5)


def test_a_smoothness_without_a_closed_form_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="nu must be one of"):
        GaussianProcess.fit(np.zeros((1, 1)), np.zeros(1), nu=2.0)
