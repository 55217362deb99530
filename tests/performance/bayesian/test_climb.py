"""Searching a space: exact where it can be listed, good where it cannot, and never the same point twice."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.performance.bayesian import climb
from penstock.performance.bayesian.acquisition import expected_improvement
from penstock.performance.bayesian.bayesian_search import best_first
from penstock.performance.bayesian.bootstrap import bootstrap_set
from penstock.performance.bayesian.climb import LISTED, Landscape, best_untried
from penstock.performance.bayesian.gaussian_process import GaussianProcess
from penstock.performance.bayesian.matern import Floats
from penstock.performance.bayesian.moves import Moves
from penstock.performance.bayesian.score import benefit_score
from penstock.performance.bayesian.search_space import Configuration, SearchSpace


def hill(space: SearchSpace, top: tuple[int, ...]) -> Landscape:
    """Highest at `top`, falling with the distance."""
    peak = space.unit([top])[0]

    def value(points: Floats) -> Floats:
        return np.asarray(-((points - peak) ** 2).sum(axis=1))

    return Landscape(value)


@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_a_space_that_can_be_listed_is_searched_exactly(data: st.DataObject) -> None:
    lower = data.draw(st.tuples(*[st.integers(1, 5)] * 3))
    upper = tuple(low + data.draw(st.integers(0, 4)) for low in lower)
    space = SearchSpace(lower, upper)
    points = [tuple(int(k) for k in point) for point in space.listed()]
    assert len(points) == len(set(points)) == space.size
    tried = set(data.draw(st.lists(st.sampled_from(points), max_size=len(points))))
    worth = np.random.default_rng(data.draw(st.integers(0, 99))).random(space.size)
    known = dict(zip(points, worth, strict=True))
    upper_logs = {tuple(space.unit([k])[0]): v for k, v in known.items()}
    best = best_untried(space, Landscape(lambda rows: np.array([upper_logs[tuple(row)] for row in rows])), tried)
    left = [k for k in points if k not in tried]
    assert best == (max(left, key=lambda k: known[k]) if left else None)


def test_a_space_too_large_to_list_is_climbed_to_the_top_of_a_hill() -> None:
    space = SearchSpace((1,) * 10, (40,) * 10)
    assert space.size > LISTED
    top = (3, 40, 1, 17, 8, 22, 5, 39, 12, 2)
    assert best_untried(space, hill(space, top), tried=[]) == top


def test_a_hundred_operators_are_climbed_too() -> None:
    space = SearchSpace((1,) * 100, (40,) * 100)
    top = tuple(1 + (7 * i) % 40 for i in range(100))
    assert best_untried(space, hill(space, top), tried=[]) == top


def test_operators_that_do_not_hinder_each_other_are_moved_together() -> None:
    """A hundred operators, each a few moves from its best, take a few rounds and not a few hundred."""
    space = SearchSpace((1,) * 100, (40,) * 100)
    slope, rounds = hill(space, tuple(1 + (7 * i) % 40 for i in range(100))), 0

    def value_of_moves(moves: Moves) -> Floats:
        nonlocal rounds
        rounds += 1
        return slope.moved(moves)

    best_untried(space, Landscape(slope.value, value_of_moves), tried=[])
    assert rounds <= 10


def test_the_top_of_the_hill_is_not_returned_when_it_was_tried() -> None:
    space = SearchSpace((1,) * 6, (40,) * 6)
    top = (3, 40, 1, 17, 8, 22)
    second = best_untried(space, hill(space, top), tried=[top])
    assert second is not None
    assert second != top
    assert sum(abs(a - b) for a, b in zip(second, top, strict=True)) == 1


def test_a_large_space_is_searched_the_same_way_for_the_same_seed() -> None:
    space = SearchSpace((1,) * 6, (40,) * 6)
    rugged = np.random.default_rng(0).normal(size=(6, 50))

    def value(points: Floats) -> Floats:
        return np.asarray(np.sin(9 * points @ rugged).sum(axis=1))

    found = {seed: best_untried(space, Landscape(value), [], seed=(seed,)) for seed in (1, 2, 3, 4)}
    assert found == {seed: best_untried(space, Landscape(value), [], seed=(seed,)) for seed in (1, 2, 3, 4)}
    assert len(set(found.values())) > 1


def test_a_known_good_start_is_climbed_from() -> None:
    """A needle that random candidates miss: only its own neighbourhood slopes up to it."""
    space = SearchSpace((1,) * 10, (40,) * 10)
    top = (20,) * 10
    near = (20,) * 9 + (22,)
    peak = space.unit([top])[0]

    def needle(points: Floats) -> Floats:
        return np.asarray(np.maximum(0.0, 0.2 - np.abs(points - peak).sum(axis=1)))

    assert best_untried(space, Landscape(needle), tried=[near], starts=[near, (20,) * 9 + (21,)]) == top


def job(space: SearchSpace, seed: int) -> dict[Configuration, float]:
    """Scores of a job whose latency falls with parallelism, after the bootstrap set and some trials."""
    rng = np.random.default_rng(seed)
    work = rng.uniform(50, 300, len(space.lower)) * np.sqrt(space.lower)
    target_ms = 0.6 * float((work / space.lower).sum())
    trials = rng.integers(space.lower, space.upper, (4, len(space.lower)), endpoint=True)
    tried = [space.lower, *bootstrap_set(space, 6), *(tuple(int(k) for k in trial) for trial in trials)]
    return {k: benefit_score(0.8, target_ms, float((work / k).sum()), space.lower, k) for k in tried}


def improvement(space: SearchSpace, samples: dict[Configuration, float]) -> Landscape:
    model, f_best = GaussianProcess.fit(space.unit([*samples]), np.array([*samples.values()])), max(samples.values())
    return Landscape(
        lambda points: expected_improvement(*model.predict(points), f_best),
        lambda moves: expected_improvement(*model.predict_moves(moves), f_best),
    )


def test_the_climb_finds_what_the_listing_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spaces that can still be listed, searched both ways for the most expected improvement."""
    spaces = [SearchSpace((2, 1, 4), (40, 40, 40)), SearchSpace((1, 3, 2, 1), (16, 18, 20, 16))]
    same = 0
    for space in spaces:
        for seed in range(5):
            samples = job(space, seed)
            landscape = improvement(space, samples)
            listed = best_untried(space, landscape, samples)
            with monkeypatch.context() as patch:
                patch.setattr(climb, "LISTED", 0)
                found = best_untried(space, landscape, samples, best_first(samples))
            assert listed is not None
            assert found is not None
            highest, reached = landscape.value(space.unit([listed, found]))
            assert reached >= 0.95 * highest
            same += found == listed
    assert same >= 9


def test_every_move_looked_at_is_inside_the_space_and_new(monkeypatch: pytest.MonkeyPatch) -> None:
    space = SearchSpace((2, 1, 3, 1), (9, 40, 3, 17))
    allowed = {tuple(point) for point in space.unit(space.listed()).round(12)}
    tried = job(space, 1)
    landscape = improvement(space, tried)
    forbidden = {tuple(point) for point in space.unit([*tried]).round(12)}
    looked_at = 0

    def value_of_moves(moves: Moves) -> Floats:
        nonlocal looked_at
        looked_at += len(moves)
        points = [tuple(point) for point in moves.written_out().round(12)]
        assert allowed.issuperset(points)
        assert forbidden.isdisjoint(points)
        assert not (moves.start == moves.target).any()
        each = list(zip(moves.origin.tolist(), points, strict=True))
        assert len(set(each)) == len(each)
        return landscape.moved(moves)

    monkeypatch.setattr(climb, "LISTED", 0)
    assert best_untried(space, Landscape(landscape.value, value_of_moves), tried, best_first(tried)) is not None
    assert looked_at > 100


def looked_at(operators: int) -> int:
    """Points and moves that were valued to decide for so many operators, after the bootstrap set."""
    space = SearchSpace((2,) * operators, (40,) * operators)
    samples = job(space, 2)
    landscape = improvement(space, samples)
    count = 0

    def value(points: Floats) -> Floats:
        nonlocal count
        count += len(points)
        return landscape.value(points)

    def value_of_moves(moves: Moves) -> Floats:
        nonlocal count
        count += len(moves)
        return landscape.moved(moves)

    assert best_untried(space, Landscape(value, value_of_moves), samples, best_first(samples)) is not None
    return count


def test_ten_times_the_operators_are_no_more_than_ten_times_the_work() -> None:
    assert looked_at(100) <= 10 * looked_at(10)


def test_moves_without_a_shorter_way_are_valued_as_points() -> None:
    space = SearchSpace((1,) * 6, (40,) * 6)
    samples = job(space, 0)
    landscape = improvement(space, samples)
    plain = Landscape(landscape.value)
    starts = best_first(samples)
    assert best_untried(space, plain, samples, starts) == best_untried(space, landscape, samples, starts)


def test_a_space_tried_all_over_has_nothing_left_to_climb_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(climb, "LISTED", 0)
    space = SearchSpace((1, 1), (3, 2))
    every = [tuple(int(k) for k in point) for point in space.listed()]
    assert best_untried(space, hill(space, (2, 2)), every) is None
    assert best_untried(space, hill(space, (2, 2)), every[1:]) == every[0]
