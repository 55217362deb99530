"""The mean of a truncated normal distribution, against scipy and at its limits."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import truncnorm

from penstock.performance.truncated_normal import truncated_mean


@given(high=st.floats(0.01, 100), part=st.floats(0, 1), error=st.floats(0.01, 100))
def test_it_agrees_with_scipy(high: float, part: float, error: float) -> None:
    measured = part * high
    expected = truncnorm.mean(-measured / error, (high - measured) / error, loc=measured, scale=error)
    assert truncated_mean(measured, error, 0.0, high) == pytest.approx(expected, rel=1e-5, abs=1e-6)


@given(high=st.floats(0, 1e9), part=st.floats(0, 1), error=st.floats(0, allow_nan=False))
def test_it_is_always_possible(high: float, part: float, error: float) -> None:
    assert 0.0 <= truncated_mean(min(part * high, high), error, 0.0, high) <= high


@pytest.mark.parametrize("measured", [0.0, 3.0, 10.0])
def test_a_measurement_is_believed_as_far_as_it_is_exact(measured: float) -> None:
    assert truncated_mean(measured, 0.0, 0.0, 10.0) == measured
    assert truncated_mean(measured, 1e-6, 0.0, 10.0) == pytest.approx(measured, abs=1e-6)
    assert truncated_mean(measured, 1e6, 0.0, 10.0) == pytest.approx(5.0)
    assert truncated_mean(measured, math.inf, 0.0, 10.0) == 5.0
