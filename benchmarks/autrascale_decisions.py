"""How long one decision of AuTraScale takes: Table VI of the second paper, ours beside scikit-learn's.

Both solve the same problem with the same samples, on one thread; times are CPU times, as in the paper. Ours fits its
own Gaussian process and climbs. The other is the algorithm as the paper writes it, on scikit-learn, over the whole
space, or over 200,000 points of it where that is larger. The chosen points are compared by their expected improvement
under one model, ours.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any, TypeVar

import numpy as np
from scipy.stats import norm
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from penstock.experiments._decision_time import OPERATORS, UNIFORM_SAMPLES, Problem, Samples
from penstock.performance.acquisition import XI, Surrogate, expected_improvement
from penstock.performance.bayesian_search import arrays, best_first, recommend
from penstock.performance.bootstrap import bootstrap_set
from penstock.performance.gaussian_process import GaussianProcess
from penstock.performance.matern import Floats
from penstock.performance.search_space import LISTED, Configuration, Integers, SearchSpace

MANY_OPERATORS = (10, 20, 40, 60, 80, 100)
PAPER_SECONDS = {
    "Algorithm 1": (0.042, 0.053, 0.065, 0.076, 0.088),
    "Algorithm 3": (0.027, 0.035, 0.043, 0.048, 0.056),
    "Traditional": (0.070, 0.081, 0.094, 0.104, 0.116),
    "Algorithm 2": (0.036, 0.044, 0.050, 0.060, 0.073),
}
OUR_NAMES = {"Traditional": "traditional transfer", "Algorithm 2": "lightweight transfer"}
REPEATS, THEIR_REPEATS = 9, 5

T = TypeVar("T")


@dataclass(frozen=True)
class Row:
    """One algorithm at one number of operators. Improvements are those of the chosen points under our model."""

    algorithm: str
    operators: int
    paper_seconds: float | None
    seconds: float
    listed_seconds: float | None = None
    improvement: float | None = None
    listed_improvement: float | None = None


# Ours -------------------------------------------------------------------------------------------------------------


def our_search(problem: Problem, samples: Samples, surrogate: Surrogate, f_best: float) -> Configuration:
    step = recommend(problem.space, surrogate, f_best, samples, best_first(samples))
    assert step is not None
    return step.configuration


def our_model(problem: Problem, algorithm: str, old: GaussianProcess) -> tuple[Samples, Surrogate, float]:
    """What is searched: the samples that count as tried, the surrogate, and the best value known."""
    return problem.model(OUR_NAMES.get(algorithm, algorithm), old)


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


def timed(function: Callable[[], T], repeats: int) -> tuple[T, float]:
    seconds = []
    for _ in range(repeats):
        began = time.process_time()
        result = function()
        seconds.append(time.process_time() - began)
    return result, median(seconds)


def compare(algorithm: str, operators: int) -> Row:
    problem = Problem.make(operators)
    # The model of the old rate is an input of both transfers: it was trained when that rate was in force.
    old = GaussianProcess.fit(*arrays(problem.space, problem.old))
    their_old = their_fit(*arrays(problem.space, problem.old))

    def ours() -> tuple[Configuration, Surrogate, float]:
        samples, surrogate, f_best = our_model(problem, algorithm, old)
        return our_search(problem, samples, surrogate, f_best), surrogate, f_best

    def theirs() -> Configuration:
        return their_search(problem, algorithm, their_old, listing(problem.space))

    (chosen, surrogate, f_best), seconds = timed(ours, REPEATS)
    listed, listed_seconds = timed(theirs, THEIR_REPEATS)
    both = surrogate.predict(problem.space.unit([chosen, listed]))
    improvement, listed_improvement = (float(value) for value in expected_improvement(*both, f_best))
    paper = PAPER_SECONDS[algorithm][OPERATORS.index(operators)]
    return Row(algorithm, operators, paper, seconds, listed_seconds, improvement, listed_improvement)


def scale(operators: int) -> Row:
    problem = Problem.make(operators)

    def decide() -> Configuration:
        samples, surrogate, f_best = our_model(problem, "Algorithm 1", old)
        return our_search(problem, samples, surrogate, f_best)

    old = GaussianProcess.fit(*arrays(problem.space, problem.old))
    return Row("Algorithm 1", operators, None, timed(decide, REPEATS)[1])


def rows() -> Iterator[Row]:
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn warns of hyperparameters at their bounds
        for algorithm in PAPER_SECONDS:
            for operators in OPERATORS:
                yield compare(algorithm, operators)
        for operators in MANY_OPERATORS:
            yield scale(operators)


def _row(point: Integers) -> Configuration:
    return tuple(int(k) for k in point)
