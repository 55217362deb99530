"""The line goes through the window, and through nothing older."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.forecast import FORECASTERS
from penstock.forecast.linear import Linear
from penstock.model import InvalidValueError


@given(
    rates=st.lists(st.floats(0, 1e4), min_size=2, max_size=20),
    gaps=st.lists(st.floats(1, 100), min_size=20, max_size=20),
    ahead=st.floats(0, 600),
)
def test_it_is_the_least_squares_line(rates: list[float], gaps: list[float], ahead: float) -> None:
    forecaster, times, t = Linear(window=1e6), [], 0.0
    for rate, gap in zip(rates, gaps, strict=False):
        t += gap
        times.append(t)
        forecaster.learn(t, rate)
    slope, intercept = np.polyfit(np.array(times) - t, rates, 1)
    assert forecaster.predict(ahead) == pytest.approx(max(0.0, intercept + slope * ahead), rel=1e-6, abs=1e-3)


def test_it_is_as_exact_in_unix_time() -> None:
    forecaster = Linear()
    for minute in range(10):
        forecaster.learn(1.7e9 + 60 * minute, 100 + 10 * minute)
    assert forecaster.predict(60) == pytest.approx(200, abs=1e-9)


def test_what_is_older_than_the_window_is_forgotten() -> None:
    forecaster = Linear(window=120.0)
    for t, rate in [(0, 9000), (60, 100), (120, 110), (180, 120)]:
        forecaster.learn(t, rate)
    assert forecaster.predict(60) == pytest.approx(130)


def test_only_so_many_measurements_are_kept() -> None:
    forecaster = Linear(measurements=2)
    for t, rate in [(0, 9000), (60, 100), (120, 110)]:
        forecaster.learn(t, rate)
    assert forecaster.predict(60) == pytest.approx(120)
    assert len(forecaster.state()["memory"]["points"]) == 2


def test_after_a_gap_longer_than_the_window_the_line_is_level() -> None:
    forecaster = Linear(window=100.0)
    for t, rate in [(0, 10), (60, 20), (1000, 500)]:
        forecaster.learn(t, rate)
    assert forecaster.predict(3600) == 500


def test_impossible_options_are_refused() -> None:
    with pytest.raises(InvalidValueError, match=r"^window must be a finite number of at least 0, not -1\.0$"):
        FORECASTERS.create("linear", {"window": -1})
    with pytest.raises(InvalidValueError, match=r"^measurements must be a whole number of at least 1, not 0$"):
        FORECASTERS.create("linear", {"measurements": 0})
