"""Event latency optimisation (AuTraScale+, Algorithm 3): the configuration whose throughput drains in time.

A profile says what each configuration can do when records never run out. The search looks for the one whose
throughput comes closest to the target, from either side: less is too slow, more is waste.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from penstock.performance.bayesian.acquisition import XI
from penstock.performance.bayesian.bayesian_search import Recommendation, best_first, recommend, trained
from penstock.performance.bayesian.score import throughput_score
from penstock.performance.bayesian.search_space import Configuration, SearchSpace

Profile = Mapping[Configuration, float]
"""Throughput of configurations under a load they cannot exhaust, in records per second."""


@dataclass(frozen=True)
class DrainSearch:
    """The search for one target throughput V."""

    space: SearchSpace
    target: float
    beta: float
    threshold: float = 0.9
    xi: float = XI
    nu: float = 2.5
    seed: int = 0

    def score(self, throughput: float) -> float:
        return throughput_score(throughput, self.target, self.beta)

    def found(self, profile: Profile) -> Configuration | None:
        """The smallest of the profiled configurations whose score reaches the threshold; None if there is none.

        One that is a little too slow does not count, whatever its score: it is late by as much, and given up at the
        limit.
        """
        near = [k for k, v in profile.items() if v >= self.target and self.score(v) >= self.threshold]
        return min((k for k in near if k in self.space), key=sum, default=None)

    def next(
        self, profile: Profile, estimates: Profile | None = None, refused: Collection[Configuration] = ()
    ) -> Recommendation | None:
        """The configuration with the largest expected improvement over the best profiled score; None when none is left.

        `estimates` train the model beside what was really profiled, which they never replace. A configuration in
        `refused` is not proposed again.
        """
        real = {k: self.score(v) for k, v in profile.items() if k in self.space}
        known = {k: self.score(v) for k, v in (estimates or {}).items() if k in self.space} | real
        surrogate = trained(self.space, known, self.nu)
        f_best = max(real.values(), default=0.0)
        tried = {*real, *refused}
        return recommend(self.space, surrogate, f_best, tried, best_first(known), self.xi, self.seed)

    def run(
        self,
        throughput: Callable[[Configuration], float],
        bootstrap: Iterable[Configuration],
        trials: int | None = None,
    ) -> dict[Configuration, float]:
        """Run Algorithm 3 against an offline profile; returns what was profiled, in order.

        It ends with a configuration that was tried and reaches the threshold (a bootstrap sample that happens to reach
        it is none, as in the paper), after so many trials, or with the space.
        """
        profile = {k: throughput(k) for k in bootstrap}
        for _ in range(self.space.size if trials is None else trials):
            step = self.next(profile)
            if step is None:
                break
            profile[step.configuration] = throughput(step.configuration)
            if self.found({step.configuration: profile[step.configuration]}) is not None:
                break
        return profile
