"""One iteration of Bayesian optimisation: from samples to a surrogate model to the next configuration to try."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from penstock.performance.bayesian.acquisition import XI, Surrogate, expected_improvement
from penstock.performance.bayesian.climb import Landscape, best_untried
from penstock.performance.bayesian.gaussian_process import GaussianProcess
from penstock.performance.bayesian.matern import Floats
from penstock.performance.bayesian.moves import Moves
from penstock.performance.bayesian.one_thread import one_thread
from penstock.performance.bayesian.search_space import Configuration, SearchSpace


@dataclass(frozen=True)
class Recommendation:
    """The next configuration to try, and what the surrogate model predicts for it."""

    configuration: Configuration
    mean: float
    deviation: float
    expected_improvement: float

    def figures(self) -> dict[str, float]:
        return {"mu": self.mean, "sigma": self.deviation, "EI": self.expected_improvement}


def recommend(
    space: SearchSpace,
    surrogate: Surrogate,
    f_best: float,
    tried: Collection[Configuration],
    starts: Sequence[Configuration] = (),
    xi: float = XI,
    seed: int = 0,
) -> Recommendation | None:
    """The point of the space with the largest expected improvement over `f_best`; None when all were tried.

    Random candidates depend on the seed and on how much was tried, so a search does not draw the same ones twice.
    """

    def value(points: Floats) -> Floats:
        return expected_improvement(*surrogate.predict(points), f_best, xi)

    def value_of_moves(moves: Moves) -> Floats:
        return expected_improvement(*surrogate.predict_moves(moves), f_best, xi)

    with one_thread():
        chosen = best_untried(space, Landscape(value, value_of_moves), tried, starts, seed=(seed, len(tried)))
        if chosen is None:
            return None
        mean, deviation = surrogate.predict(space.unit([chosen]))
    improvement = expected_improvement(mean, deviation, f_best, xi)
    return Recommendation(chosen, float(mean[0]), float(deviation[0]), float(improvement[0]))


def best_first(samples: Mapping[Configuration, float]) -> list[Configuration]:
    """The configurations by descending score: where a search begins to climb."""
    return sorted(samples, key=lambda configuration: -samples[configuration])


def arrays(space: SearchSpace, samples: Mapping[Configuration, float]) -> tuple[Floats, Floats]:
    """Samples as a model takes them: inputs (n, d) and outputs (n,)."""
    return space.unit([*samples]), np.array([*samples.values()])


def trained(space: SearchSpace, samples: Mapping[Configuration, float], nu: float) -> GaussianProcess:
    """The Gaussian process of these samples. The most recent ones are cached."""
    return _trained(space.upper, tuple(samples.items()), nu)


@lru_cache(maxsize=16)
def _trained(upper: Configuration, samples: tuple[tuple[Configuration, float], ...], nu: float) -> GaussianProcess:
    return GaussianProcess.fit(*arrays(SearchSpace(upper, upper), dict(samples)), nu)
