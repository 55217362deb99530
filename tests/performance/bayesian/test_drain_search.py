"""Algorithm 3 against a profile known by formula."""

from __future__ import annotations

import pytest

from penstock.performance.bayesian.bootstrap import bootstrap_set
from penstock.performance.bayesian.drain_search import DrainSearch
from penstock.performance.bayesian.search_space import Configuration, SearchSpace

SPACE = SearchSpace((2, 3), (20, 20))


def throughput(k: Configuration) -> float:
    """The second operator is the slower one, and instances get in each other's way."""
    return min(k[0] * 50.0 / (1 + 0.01 * k[0]), k[1] * 30.0 / (1 + 0.02 * k[1]))


def test_the_whole_algorithm_ends_near_the_target() -> None:
    search = DrainSearch(SPACE, target=250.0, beta=100.0)
    profile = search.run(throughput, bootstrap_set(SPACE, 6))
    solution = search.found(profile)
    assert solution is not None
    assert search.score(profile[solution]) >= 0.9
    assert profile[solution] == throughput(solution)
    assert len(profile) < 20  # of 342


def test_a_target_out_of_reach_ends_with_the_space_or_with_the_trials() -> None:
    space = SearchSpace((2, 3), (4, 5))
    search, bootstrap = DrainSearch(space, target=1e4, beta=10.0), bootstrap_set(space, 2)
    assert len(search.run(throughput, bootstrap)) == space.size
    assert len(search.run(throughput, bootstrap, trials=3)) == len(bootstrap) + 3


def test_among_those_close_enough_the_least_parallelism_is_taken() -> None:
    search = DrainSearch(SPACE, target=100.0, beta=50.0)
    assert search.found({(9, 9): 100.0, (5, 5): 104.0, (3, 3): 40.0}) == (5, 5)
    assert search.found({(9, 9): 100.0, (5, 5): 96.0}) == (9, 9)  # what is too slow is late, however near
    assert search.found({(3, 3): 40.0}) is None
    assert search.found({(1, 1): 100.0}) is None  # below the space


def test_nothing_profiled_or_refused_is_recommended_again() -> None:
    space = SearchSpace((2, 3), (3, 4))
    search = DrainSearch(space, target=120.0, beta=50.0)
    profile: dict[Configuration, float] = {(2, 3): 80.0, (3, 3): 85.0}
    step = search.next(profile, refused=[(2, 4)])
    assert step is not None
    assert step.configuration == (3, 4)
    assert search.next({**profile, (3, 4): 99.0}, refused=[(2, 4)]) is None


def test_estimates_guide_the_search_to_where_nothing_was_profiled() -> None:
    search = DrainSearch(SPACE, target=300.0, beta=200.0)
    estimates: dict[Configuration, float] = {(k, k): 30.0 * k for k in range(3, 21)}
    step = search.next({(2, 3): 80.0}, estimates)
    assert step is not None
    assert step.configuration[1] == pytest.approx(10, abs=3)
