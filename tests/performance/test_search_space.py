"""Searching a space: exact where it can be listed, good where it cannot, and never the same point twice."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.model import InvalidValueError, Operator, Topology
from penstock.performance.matern import Floats
from penstock.performance.search_space import LISTED, SearchSpace, ceiling


def hill(space: SearchSpace, top: tuple[int, ...]) -> object:
    """Highest at `top`, falling with the distance."""
    peak = space.unit([top])[0]

    def value(points: Floats) -> Floats:
        return np.asarray(-((points - peak) ** 2).sum(axis=1))

    return value


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
    best = space.best(lambda rows: np.array([upper_logs[tuple(row)] for row in rows]), tried)
    left = [k for k in points if k not in tried]
    assert best == (max(left, key=lambda k: known[k]) if left else None)


def test_a_space_too_large_to_list_is_climbed_to_the_top_of_a_hill() -> None:
    space = SearchSpace((1,) * 10, (40,) * 10)
    assert space.size > LISTED
    top = (3, 40, 1, 17, 8, 22, 5, 39, 12, 2)
    assert space.best(hill(space, top), tried=[]) == top  # type: ignore[arg-type]


def test_a_hundred_operators_are_climbed_too() -> None:
    space = SearchSpace((1,) * 100, (40,) * 100)
    top = tuple(1 + (7 * i) % 40 for i in range(100))
    assert space.best(hill(space, top), tried=[]) == top  # type: ignore[arg-type]


def test_the_top_of_the_hill_is_not_returned_when_it_was_tried() -> None:
    space = SearchSpace((1,) * 6, (40,) * 6)
    top = (3, 40, 1, 17, 8, 22)
    second = space.best(hill(space, top), tried=[top])  # type: ignore[arg-type]
    assert second is not None
    assert second != top
    assert sum(abs(a - b) for a, b in zip(second, top, strict=True)) == 1


def test_a_large_space_is_searched_the_same_way_for_the_same_seed() -> None:
    space = SearchSpace((1,) * 6, (40,) * 6)
    rugged = np.random.default_rng(0).normal(size=(6, 50))

    def value(points: Floats) -> Floats:
        return np.asarray(np.sin(9 * points @ rugged).sum(axis=1))

    found = {seed: space.best(value, [], seed=(seed,)) for seed in (1, 2, 3, 4)}
    assert found == {seed: space.best(value, [], seed=(seed,)) for seed in (1, 2, 3, 4)}
    assert len(set(found.values())) > 1


def test_a_known_good_start_is_climbed_from() -> None:
    """A needle that random candidates miss: only its own neighbourhood slopes up to it."""
    space = SearchSpace((1,) * 10, (40,) * 10)
    top = (20,) * 10
    near = (20,) * 9 + (22,)
    peak = space.unit([top])[0]

    def needle(points: Floats) -> Floats:
        return np.asarray(np.maximum(0.0, 0.2 - np.abs(points - peak).sum(axis=1)))

    assert space.best(needle, tried=[near], starts=[near, (20,) * 9 + (21,)]) == top


@given(k=st.integers(1, 40))
def test_models_see_parallelism_on_a_scale_that_does_not_depend_on_the_base(k: int) -> None:
    low, high = SearchSpace((1, 1), (40, 1)), SearchSpace((k, 1), (40, 1))
    assert low.unit([(k, 1)]).tolist() == high.unit([(k, 1)]).tolist()
    assert 0.0 <= low.unit([(k, 1)])[0, 0] <= 1.0


def test_the_ceiling_heeds_the_sources_partitions() -> None:
    line = Topology((Operator("read", max=40), Operator("count", max=30)), (("read", "count"),), source_partitions=8)
    assert ceiling(line) == (8, 30)
    assert SearchSpace.above((2, 3), line).upper == (8, 30)


def test_an_empty_space_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="search space must not be empty"):
        SearchSpace((3,), (2,))
