"""Measures the CPU time that AuTraScale's algorithms take for one decision, by number of operators."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from threadpoolctl import threadpool_limits

from penstock.performance.bayesian.acquisition import Surrogate
from penstock.performance.bayesian.bayesian_search import arrays, best_first, recommend
from penstock.performance.bayesian.bootstrap import bootstrap_set
from penstock.performance.bayesian.gaussian_process import GaussianProcess
from penstock.performance.bayesian.score import benefit_score, throughput_score
from penstock.performance.bayesian.search_space import Configuration, SearchSpace
from penstock.performance.bayesian.transfer import LightweightTransfer, residual_model, with_estimates
from penstock.report.item import Series, listed
from penstock.report.judging import Verdict, ours, unless

OPERATORS = (2, 4, 6, 8, 10)
P_MAX, ALPHA, UNIFORM_SAMPLES, TRIALS, FRESH, REPEATS = 40, 0.8, 6, 4, 3, 20
SETTING = (
    "one decision on a made-up job of 2 to 10 operators of at most 40 instances; CPU time on one thread, "
    "the least of 20; other hardware than the paper's"
)

METERING = (
    "a simulator meters for nothing; on Spark `python -m benchmarks realtime_metering` and `microbatch` measure it, "
    "and their results stand in benchmarks/results"
)
LINEAR = 0.9
"""The least part of the variance of times that a straight line over operators must explain to be called linear."""

Samples = dict[Configuration, float]


@dataclass(frozen=True)
class Problem:
    """A job whose latency falls with parallelism, sampled at an old rate and, a little, at a new one."""

    space: SearchSpace
    old: Samples
    fresh: Samples
    profile: Samples

    @classmethod
    def make(cls, operators: int, fresh: int = FRESH) -> Problem:
        """A job of so many operators, with so many real samples at the new rate: the base, and then random ones."""
        rng = np.random.default_rng(operators)
        base = tuple(int(k) for k in rng.integers(1, 9, operators))
        space = SearchSpace(base, (P_MAX,) * operators)
        work = rng.uniform(50, 300, operators) * np.sqrt(base)
        speeds = 100.0 / np.array(base)
        target_ms = 0.6 * float((work / base).sum())

        def score(k: Configuration, load: float) -> float:
            return benefit_score(ALPHA, target_ms, load * float((work / np.array(k)).sum()), base, k)

        def throughput(k: Configuration) -> float:
            return throughput_score(float((speeds * np.array(k)).min()), target=180.0, beta=80.0)

        trials = [tuple(int(k) for k in rng.integers(base, P_MAX, endpoint=True)) for _ in range(TRIALS)]
        more = [tuple(int(k) for k in rng.integers(base, P_MAX, endpoint=True)) for _ in range(fresh)]
        tried = [base, *bootstrap_set(space, UNIFORM_SAMPLES), *trials]
        return cls(
            space,
            old={k: score(k, 1.0) for k in tried},
            fresh={k: score(k, 1.3) for k in [base, *trials, *more][:fresh]},
            profile={k: throughput(k) for k in tried},
        )

    def model(self, algorithm: str, old: GaussianProcess) -> tuple[Samples, Surrogate, float]:
        """What an algorithm searches: the samples that count as tried, the surrogate, and the best value known."""
        if algorithm in ("Algorithm 1", "Algorithm 3"):
            samples = self.old if algorithm == "Algorithm 1" else self.profile
            return samples, self.fitted(samples), max(samples.values())
        inputs, outputs = arrays(self.space, self.fresh)
        residual = residual_model(old, inputs, outputs)
        if algorithm == "lightweight transfer":
            return self.fresh, LightweightTransfer(old, residual), float(outputs.max())
        points = [k for k in bootstrap_set(self.space, UNIFORM_SAMPLES) if k not in self.fresh]
        model = with_estimates(old, residual, inputs, outputs, self.space.unit(points))
        return self.fresh, model, float(model.outputs.max())

    def fitted(self, samples: Samples) -> GaussianProcess:
        return GaussianProcess.fit(*arrays(self.space, samples))


@cache
def seconds(algorithm: str, operators: int, fresh: int = FRESH) -> float:
    """The CPU time of one decision. The old model is an input of a transfer: it was trained at its own rate."""
    problem = Problem.make(operators, fresh)
    old = problem.fitted(problem.old)

    def decide() -> None:
        samples, surrogate, f_best = problem.model(algorithm, old)
        recommend(problem.space, surrogate, f_best, samples, best_first(samples))

    return _least_seconds(decide)


@cache
def training_seconds(algorithm: str, operators: int) -> float:
    """The part of a decision's CPU time in which models are trained, before anything is searched."""
    problem = Problem.make(operators)
    old = problem.fitted(problem.old)
    return _least_seconds(lambda: problem.model(algorithm, old))


def linear_claim(algorithms: Sequence[str]) -> Verdict:
    """Whether a straight line over the number of operators explains the time of each algorithm."""
    explained, last = {}, {}
    for algorithm in algorithms:
        times = [seconds(algorithm, n) for n in OPERATORS]
        last[algorithm] = times[-1]
        explained[algorithm] = float(np.corrcoef(OPERATORS, times)[0, 1] ** 2)
    training = {algorithm: training_seconds(algorithm, OPERATORS[-1]) / times for algorithm, times in last.items()}
    return unless(
        (min(explained.values()) >= LINEAR, f"R² of a line: {listed(explained, '.2f')}; {LINEAR:g} is asked"),
        ours(
            "a space of 2 operators is listed and larger ones are climbed, and part of the few milliseconds goes into "
            "training models, whose time grows with samples rather than operators: with "
            f"{OPERATORS[-1]} operators {listed(training, '.0%')}"
        ),
    )


def line(label: str, algorithm: str) -> Series:
    """The CPU time of an algorithm by number of operators, for a chart."""
    return Series(label, tuple(map(float, OPERATORS)), tuple(seconds(algorithm, n) for n in OPERATORS))


@cache
def prediction_seconds(operators: int) -> float:
    """The CPU time of asking a trained model for one plan's score."""
    problem = Problem.make(operators)
    model, point = problem.fitted(problem.old), problem.space.unit([problem.space.upper])
    return _least_seconds(lambda: model.predict(point))


def _least_seconds(work: Callable[[], object]) -> float:
    """The least of many measurements: more is due to other programs, which share the caches."""
    times = []
    with threadpool_limits(1):  # as in the paper's comparison; idle threads of a library spin, which would count
        work()  # the first call fills caches
        for _ in range(REPEATS):
            began = time.process_time()
            work()
            times.append(time.process_time() - began)
    return min(times)
