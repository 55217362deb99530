"""Running averages are the averages, in constant memory."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.forecast._error import RunningError

RATES = st.floats(0, 1e6)


@given(st.lists(st.tuples(RATES, st.floats(1e-3, 1e6)), min_size=1, max_size=30))
def test_they_are_the_averages_of_all_misses(pairs: list[tuple[float, float]]) -> None:
    error = RunningError()
    for predicted, measured in pairs:
        error.add(predicted, measured)
    misses = [abs(predicted - measured) for predicted, measured in pairs]
    count = len(pairs)
    assert error.mean_absolute == pytest.approx(sum(misses) / count)
    assert error.root_mean_square == pytest.approx(math.sqrt(sum(miss**2 for miss in misses) / count))
    relative = sum(miss / measured for miss, (_, measured) in zip(misses, pairs, strict=True)) / count
    assert error.mean_relative == pytest.approx(relative)


def test_a_measured_zero_counts_in_all_but_the_relative_error() -> None:
    error = RunningError()
    error.add(predicted=10, measured=0)
    assert (error.mean_absolute, error.root_mean_square, error.mean_relative) == (10, 10, None)
    error.add(predicted=10, measured=20)
    assert (error.mean_absolute, error.mean_relative) == (10, 0.5)


def test_without_a_prediction_there_is_no_error() -> None:
    error = RunningError()
    assert (error.mean_absolute, error.root_mean_square, error.mean_relative) == (None, None, None)


def test_it_survives_a_restart() -> None:
    error = RunningError()
    for predicted in (1.1, 2.2, 0.3):
        error.add(predicted, 1.7)
    assert RunningError.restored(json.loads(json.dumps(error.state()))) == error
