"""A running average is the average, in constant memory."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.forecast._base import RunningError

RATES = st.floats(0, 1e6)


@given(st.lists(st.tuples(RATES, RATES), min_size=1, max_size=30))
def test_it_is_the_average_of_all_misses(pairs: list[tuple[float, float]]) -> None:
    error = RunningError()
    for predicted, measured in pairs:
        error.add(predicted, measured)
    misses = [abs(predicted - measured) for predicted, measured in pairs]
    assert error.mean_absolute == pytest.approx(sum(misses) / len(pairs))


def test_without_a_prediction_there_is_no_error() -> None:
    assert RunningError().mean_absolute is None


def test_it_survives_a_restart() -> None:
    error = RunningError()
    for predicted in (1.1, 2.2, 0.3):
        error.add(predicted, 1.7)
    assert RunningError.restored(json.loads(json.dumps(error.state()))) == error
