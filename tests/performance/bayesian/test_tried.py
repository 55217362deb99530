"""Asking whether points were tried: the same answer as a set of tuples gives."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.performance.bayesian.tried import Tried

CONFIGURATIONS = st.lists(st.tuples(*[st.integers(1, 3)] * 3), max_size=12)


@given(tried=CONFIGURATIONS, asked=CONFIGURATIONS)
@settings(max_examples=60, deadline=None)
def test_points_are_among_the_tried_when_they_are(tried: list[tuple[int, ...]], asked: list[tuple[int, ...]]) -> None:
    points = np.array(asked, dtype=np.int64).reshape(-1, 3)
    assert Tried.of(tried, 3).among(points).tolist() == [point in tried for point in asked]


@given(tried=CONFIGURATIONS, start=st.tuples(*[st.integers(1, 3)] * 3), target=st.tuples(*[st.integers(1, 3)] * 3))
@settings(max_examples=60, deadline=None)
def test_so_are_points_with_one_operator_changed(
    tried: list[tuple[int, ...]], start: tuple[int, ...], target: tuple[int, ...]
) -> None:
    answer = Tried.of(tried, 3).among_moves(np.array([start]), np.array([[target]]))
    moved = [(*start[:i], target[i], *start[i + 1 :]) for i in range(3)]
    assert answer.tolist() == [[[point in tried for point in moved]]]
