"""How long one decision of AuTraScale takes: Table VI of the second paper, ours beside scikit-learn's.

Both solve the same problem with the same samples, on one thread, in turns; times are CPU times, as in the paper, and
the least of several runs, since what else a machine does can only add. Ours fits its own Gaussian process and climbs.
The other is the algorithm as the paper writes it, on scikit-learn, over the whole space, or over 200,000 points of it
where that is larger. The chosen points are compared by their expected improvement under one model, ours.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import norm
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel
from threadpoolctl import threadpool_limits

from penstock.papers.autrascale.decision_time import OPERATORS, UNIFORM_SAMPLES, Problem, Samples
from penstock.performance.bayesian.acquisition import XI, Surrogate, expected_improvement
from penstock.performance.bayesian.bayesian_search import arrays, best_first, recommend
from penstock.performance.bayesian.bootstrap import bootstrap_set
from penstock.performance.bayesian.climb import LISTED
from penstock.performance.bayesian.gaussian_process import GaussianProcess
from penstock.performance.bayesian.matern import Floats
from penstock.performance.bayesian.search_space import Configuration, Integers, SearchSpace
from penstock.performance.bayesian.transfer import LightweightTransfer, residual_model, with_estimates

MANY_OPERATORS = (10, 20, 40, 60, 80, 100)
PAPER_SECONDS = {
    "Algorithm 1": (0.042, 0.053, 0.065, 0.076, 0.088),
    "Algorithm 3": (0.027, 0.035, 0.043, 0.048, 0.056),
    "Traditional": (0.070, 0.081, 0.094, 0.104, 0.116),
    "Algorithm 2": (0.036, 0.044, 0.050, 0.060, 0.073),
}
REPEATS = 7


@dataclass(frozen=True)
class TableSix:
    """One figure of one algorithm for 2 to 10 operators."""

    algorithm: str
    figure: str
    operators_2: float
    operators_4: float
    operators_6: float
    operators_8: float
    operators_10: float


@dataclass(frozen=True)
class ManyOperators:
    """What one decision of Algorithm 1 costs beyond the paper's sizes. The bootstrap set grows with the operators."""

    operators: int
    samples: int
    seconds: float
    milliseconds_per_operator: float


@dataclass(frozen=True)
class Comparison:
    """One algorithm at one number of operators, by both makers."""

    seconds: float
    listed_seconds: float
    improvement: float
    listed_improvement: float


def our_search(problem: Problem, samples: Samples, surrogate: Surrogate, f_best: float) -> Configuration:
    step = recommend(problem.space, surrogate, f_best, samples, best_first(samples))
    assert step is not None
    return step.configuration


def our_model(problem: Problem, algorithm: str, old: GaussianProcess) -> tuple[Samples, Surrogate, float]:
    """What is searched: the samples that count as tried, the surrogate, and the best value known."""
    if algorithm in ("Algorithm 1", "Algorithm 3"):
        samples = problem.old if algorithm == "Algorithm 1" else problem.profile
        return samples, GaussianProcess.fit(*arrays(problem.space, samples)), max(samples.values())
    inputs, outputs = arrays(problem.space, problem.fresh)
    residual = residual_model(old, inputs, outputs)
    if algorithm == "Algorithm 2":
        return problem.fresh, LightweightTransfer(old, residual), float(outputs.max())
    points = [k for k in bootstrap_set(problem.space, UNIFORM_SAMPLES) if k not in problem.fresh]
    model = with_estimates(old, residual, inputs, outputs, problem.space.unit(points))
    return problem.fresh, model, float(model.outputs.max())


# The same on scikit-learn -----------------------------------------------------------------------------------------


def their_fit(inputs: Floats, outputs: Floats) -> Any:
    d = inputs.shape[1]
    kernel = ConstantKernel(1.0, (1e-2, 1e2)) * Matern([1.0] * d, [(0.05, 20.0)] * d, nu=2.5)
    return GaussianProcessRegressor(kernel + WhiteKernel(1e-3, (1e-6, 0.1)), normalize_y=True).fit(inputs, outputs)


def their_search(problem: Problem, algorithm: str, old: Any, listed: Integers) -> Configuration:
    space, points = problem.space, problem.space.unit(listed)
    samples = {"Algorithm 1": problem.old, "Algorithm 3": problem.profile}.get(algorithm, problem.fresh)
    inputs, outputs = arrays(space, samples)
    if algorithm in ("Algorithm 1", "Algorithm 3"):
        mean, deviation = their_fit(inputs, outputs).predict(points, return_std=True)
    else:
        residual = their_fit(inputs, outputs - old.predict(inputs))
        if algorithm == "Traditional":
            asked = space.unit([k for k in bootstrap_set(space, UNIFORM_SAMPLES) if k not in samples])
            estimates = old.predict(asked) + residual.predict(asked)
            inputs, outputs = np.concatenate([inputs, asked]), np.concatenate([outputs, estimates])
            mean, deviation = their_fit(inputs, outputs).predict(points, return_std=True)
        else:
            b = len(samples) / (len(samples) + len(problem.old))
            old_mean, old_deviation = old.predict(points, return_std=True)
            mean, deviation = residual.predict(points, return_std=True)
            mean, deviation = old_mean + mean, deviation**b * old_deviation ** (1 - b)
    k = mean - outputs.max() - XI
    z = k / deviation
    improvement = k * norm.cdf(z) + deviation * norm.pdf(z)
    order = np.argsort(-improvement)
    return next(_row(listed[i]) for i in order if _row(listed[i]) not in samples)


def listing(space: SearchSpace) -> Integers:
    """The whole space, or as many of its points as fit."""
    if space.size <= LISTED:
        return space.listed()
    rng = np.random.default_rng(0)
    return rng.integers(space.lower, space.upper, (LISTED, len(space.lower)), endpoint=True)


# Measure ----------------------------------------------------------------------------------------------------------


def seconds_of(function: Callable[[], object]) -> float:
    began = time.process_time()
    function()
    return time.process_time() - began


def least(functions: Sequence[Callable[[], object]]) -> list[float]:
    """The least CPU time of each function; they take turns, so that a busy moment is nobody's alone."""
    runs = [[seconds_of(function) for function in functions] for _ in range(REPEATS)]
    return [min(times) for times in zip(*runs, strict=True)]


def compare(algorithm: str, operators: int) -> Comparison:
    problem = Problem.make(operators)
    # The model of the old rate is an input of both transfers: it was trained when that rate was in force.
    old = GaussianProcess.fit(*arrays(problem.space, problem.old))
    their_old = their_fit(*arrays(problem.space, problem.old))

    def ours() -> Configuration:
        return our_search(problem, *our_model(problem, algorithm, old))

    def theirs() -> Configuration:
        return their_search(problem, algorithm, their_old, listing(problem.space))

    _, surrogate, f_best = our_model(problem, algorithm, old)
    both = surrogate.predict(problem.space.unit([ours(), theirs()]))
    improvement, listed_improvement = (float(value) for value in expected_improvement(*both, f_best))
    seconds, listed_seconds = least([ours, theirs])
    return Comparison(seconds, listed_seconds, improvement, listed_improvement)


def table_six(algorithm: str) -> Iterator[TableSix]:
    ours = [compare(algorithm, operators) for operators in OPERATORS]
    figures = {
        "paper, s": PAPER_SECONDS[algorithm],
        "ours, s": [each.seconds for each in ours],
        "listed on scikit-learn, s": [each.listed_seconds for each in ours],
        "listed / ours": [each.listed_seconds / each.seconds for each in ours],
        "expected improvement, ours": [each.improvement for each in ours],
        "expected improvement, listed": [each.listed_improvement for each in ours],
    }
    for figure, values in figures.items():
        yield TableSix(algorithm, figure, *values)


def many_operators() -> Iterator[ManyOperators]:
    problems = [Problem.make(operators) for operators in MANY_OPERATORS]

    def decide(problem: Problem) -> Configuration:
        samples = problem.old
        model = GaussianProcess.fit(*arrays(problem.space, samples))
        return our_search(problem, samples, model, max(samples.values()))

    times = least([partial(decide, problem) for problem in problems])
    for operators, problem, seconds in zip(MANY_OPERATORS, problems, times, strict=True):
        yield ManyOperators(operators, len(problem.old), seconds, 1000.0 * seconds / operators)


def rows() -> Iterator[TableSix | ManyOperators]:
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn warns of hyperparameters at their bounds
        for algorithm in PAPER_SECONDS:
            yield from table_six(algorithm)
        yield from many_operators()


def _row(point: Integers) -> Configuration:
    return tuple(int(k) for k in point)
