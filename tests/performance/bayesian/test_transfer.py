"""Both transfers, equation by equation, and what they are for."""

from __future__ import annotations

import numpy as np
import pytest

from penstock.performance.bayesian.gaussian_process import GaussianProcess
from penstock.performance.bayesian.matern import Floats
from penstock.performance.bayesian.moves import Moves
from penstock.performance.bayesian.transfer import LightweightTransfer, residual_model, with_estimates

POINTS = np.linspace(0, 1, 21)[:, None]


def old_score(x: Floats) -> Floats:
    return np.asarray(0.5 + 0.4 * np.sin(3 * x[:, 0]))


def new_score(x: Floats) -> Floats:
    return np.asarray(old_score(x) - 0.1 - 0.05 * x[:, 0])


OLD = GaussianProcess.fit(np.linspace(0, 1, 12)[:, None], old_score(np.linspace(0, 1, 12)[:, None]))
FRESH = np.array([[0.1], [0.5], [0.9]])


def test_the_residual_is_what_the_old_model_leaves_unexplained() -> None:
    residual = residual_model(OLD, FRESH, new_score(FRESH))
    np.testing.assert_allclose(residual.outputs, new_score(FRESH) - OLD.predict(FRESH)[0])


@pytest.mark.parametrize("c0", [0.5, 1.0, 3.0])
def test_the_lightweight_transfer_adds_means_and_weighs_deviations(c0: float) -> None:
    residual = residual_model(OLD, FRESH, new_score(FRESH))
    transfer = LightweightTransfer(OLD, residual, c0)
    b = c0 * 3 / (c0 * 3 + 12)
    assert transfer.weight == pytest.approx(b)
    mean, deviation = transfer.predict(POINTS)
    (old_mean, old_deviation), (residual_mean, residual_deviation) = OLD.predict(POINTS), residual.predict(POINTS)
    np.testing.assert_allclose(mean, old_mean + residual_mean)
    np.testing.assert_allclose(deviation, residual_deviation**b * old_deviation ** (1 - b))


def test_the_lightweight_transfer_predicts_a_move_as_the_point_it_leads_to() -> None:
    transfer = LightweightTransfer(OLD, residual_model(OLD, FRESH, new_score(FRESH)))
    targets = np.linspace(0, 1, 9)
    moves = Moves(FRESH, np.arange(9) % 3, np.zeros(9, dtype=np.int64), targets)
    for of_move, of_point in zip(transfer.predict_moves(moves), transfer.predict(targets[:, None]), strict=True):
        np.testing.assert_allclose(of_move, of_point, atol=1e-7)


def test_the_traditional_transfer_trains_on_real_samples_and_estimates() -> None:
    residual = residual_model(OLD, FRESH, new_score(FRESH))
    asked = np.array([[0.0], [0.3], [1.0]])
    model = with_estimates(OLD, residual, FRESH, new_score(FRESH), asked)
    np.testing.assert_allclose(model.inputs, np.concatenate([FRESH, asked]))
    np.testing.assert_allclose(model.outputs[:3], new_score(FRESH))
    np.testing.assert_allclose(model.outputs[3:], OLD.predict(asked)[0] + residual.predict(asked)[0])


def test_three_samples_and_an_old_model_know_the_new_rate_better_than_three_samples_alone() -> None:
    residual = residual_model(OLD, FRESH, new_score(FRESH))
    alone = GaussianProcess.fit(FRESH, new_score(FRESH))

    def error(mean: Floats) -> float:
        return float(np.abs(mean - new_score(POINTS)).mean())

    transferred = LightweightTransfer(OLD, residual).predict(POINTS)[0]
    assert error(transferred) < 0.02 < 0.5 * error(alone.predict(POINTS)[0])
