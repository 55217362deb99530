"""Phoebe's capacity regression against scikit-learn's, and its recovery time against sums by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import RidgeCV

from penstock.performance.capacity import Capacity
from penstock.performance.recovery import recovery_seconds


@given(st.dictionaries(st.integers(1, 60), st.floats(1, 1e5), min_size=3, max_size=12))
def test_the_capacity_is_that_of_ridge_regression(tried: dict[int, float]) -> None:
    theirs = RidgeCV().fit([[k] for k in tried], list(tried.values()))
    ours = Capacity.fit(tried)
    scale = max(tried.values())
    points = (1, 10, 60)
    predicted = [float(theirs.predict([[k]])[0]) for k in points]
    assert [ours.at(k) for k in points] == pytest.approx(predicted, abs=1e-6 * scale)


def test_the_example_of_phoebes_own_request() -> None:
    capacity = Capacity.fit({2: 124.2, 4: 248.4, 8: 496.8})  # RecoveryTimeModelTrainingRequest
    assert capacity.at(6) == pytest.approx(372.6, rel=0.01)


def test_one_scale_out_tells_nothing_of_others() -> None:
    assert Capacity.fit({4: 100.0}).at(9) == 100.0


def steady(rate: float, begin: float, end: float) -> float:
    return rate * (end - begin)


@pytest.mark.parametrize(
    ("rate", "capacity", "expected"),
    [
        (100, 400, 110 + 30 + 7.5 + 2 + 0.5),  # 120 s of records, then what came in 30, 8 and 2 s
        (100, 1200, 110 + 10 + 0.8333333333333334),
        (0, 400, 110),
    ],
)
def test_what_came_while_it_was_down_is_worked_off_and_what_came_meanwhile(
    rate: float, capacity: float, expected: float
) -> None:
    found = recovery_seconds(lambda a, b: steady(rate, a, b), capacity, downtime=110, checkpoint=10, horizon=600)
    assert found == pytest.approx(expected)


def test_a_job_without_reserve_is_behind_for_as_long_as_one_looks() -> None:
    found = recovery_seconds(lambda a, b: steady(100, a, b), 100, downtime=110, checkpoint=10, horizon=600)
    assert found == pytest.approx(110 + 610)
    assert recovery_seconds(lambda a, b: steady(100, a, b), 0.0, 110, 10, 600) == math.inf
