"""The least-squares line, by hand and against numpy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.performance.regression import least_squares


def test_a_line_by_hand() -> None:
    line = least_squares([1, 2, 3, 4], [2, 3, 5, 6])
    assert (line.slope, line.at(0.0)) == pytest.approx((1.4, 0.5))
    assert line.at(5) == pytest.approx(7.5)


@pytest.mark.parametrize(("xs", "ys"), [([10.0], [7.0]), ([5.0, 5.0], [6.0, 8.0])])
def test_one_moment_says_nothing_about_a_trend(xs: list[float], ys: list[float]) -> None:
    line = least_squares(xs, ys)
    assert (line.slope, line.at(100.0)) == (0.0, 7.0)


@settings(deadline=None)
@given(value=st.floats(1e-3, 1e9), count=st.integers(1, 30))
def test_equal_measurements_have_no_slope_at_all(value: float, count: int) -> None:
    """AUTOSCALE calls any slope above 0 increasing, so rounding must not make one."""
    line = least_squares([1.7e9 + 10 * i for i in range(count)], [value] * count)
    assert line.slope == 0.0
    assert line.at(1.8e9) == value


@settings(deadline=None)
@given(ys=st.lists(st.integers(0, 10_000), min_size=2, max_size=12))
def test_it_agrees_with_numpy(ys: list[int]) -> None:
    xs = [10.0 * i for i in range(len(ys))]
    slope, intercept = np.polyfit(xs, ys, 1)
    line = least_squares(xs, ys)
    assert line.slope == pytest.approx(slope, abs=1e-6)
    assert line.at(0.0) == pytest.approx(intercept, abs=1e-6)


def test_a_difference_in_the_last_digit_is_no_trend() -> None:
    assert least_squares([10, 20, 30], [0.3, 0.3, 0.1 + 0.2]).slope == 0.0
    assert least_squares([10, 20, 30], [0.3, 0.3, 0.30001]).slope > 0.0


def test_unix_times_cost_no_precision() -> None:
    line = least_squares([1.7e9, 1.7e9 + 10, 1.7e9 + 20], [100, 110, 120])
    assert line.at(1.7e9 + 30) == pytest.approx(130, abs=1e-9)
