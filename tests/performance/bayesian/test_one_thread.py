"""Small matrices run on one thread, and only they."""

from __future__ import annotations

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

from penstock.performance.bayesian import marginal_likelihood
from penstock.performance.bayesian.bayesian_search import recommend
from penstock.performance.bayesian.gaussian_process import GaussianProcess
from penstock.performance.bayesian.marginal_likelihood import Hyperparameters
from penstock.performance.bayesian.matern import Floats
from penstock.performance.bayesian.moves import Moves
from penstock.performance.bayesian.one_thread import one_thread
from penstock.performance.bayesian.search_space import SearchSpace


def threads() -> set[int]:
    """The threads of every BLAS library in the process."""
    return {library["num_threads"] for library in ThreadpoolController().select(user_api="blas").info()}


def test_one_thread_inside_and_as_before_outside() -> None:
    with threadpool_limits(2, user_api="blas"):
        with one_thread():
            assert threads() == {1}
        assert threads() == {2}


def test_as_before_after_a_failure_too() -> None:
    with threadpool_limits(2, user_api="blas"):
        with pytest.raises(ZeroDivisionError), one_thread():
            _ = 1 / 0
        assert threads() == {2}


def test_a_fit_runs_on_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = set()
    original = marginal_likelihood.log_likelihood

    def watched(inputs: Floats, y: Floats, theta: Hyperparameters, nu: float) -> tuple[float, Floats]:
        seen.update(threads())
        return original(inputs, y, theta, nu)

    monkeypatch.setattr(marginal_likelihood, "log_likelihood", watched)
    with threadpool_limits(2, user_api="blas"):
        GaussianProcess.fit(np.array([[0.0], [1.0]]), np.array([0.0, 1.0]))
    assert seen == {1}


class Watched:
    """A surrogate that writes down how many threads it was asked on."""

    def __init__(self) -> None:
        self.seen: set[int] = set()

    def predict(self, points: Floats) -> tuple[Floats, Floats]:
        self.seen |= threads()
        return points.sum(axis=1), np.ones(len(points))

    def predict_moves(self, moves: Moves) -> tuple[Floats, Floats]:
        return self.predict(moves.written_out())


def test_a_search_runs_on_one_thread() -> None:
    surrogate = Watched()
    with threadpool_limits(2, user_api="blas"):
        recommend(SearchSpace((1,) * 5, (40,) * 5), surrogate, f_best=0.0, tried=[])
    assert surrogate.seen == {1}
