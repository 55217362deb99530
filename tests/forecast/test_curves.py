"""Each forecaster on curves whose future is known: the better model has the smaller error."""

import math
from collections.abc import Callable

import pytest

from penstock.forecast import Forecaster
from penstock.forecast.holt import Holt
from penstock.forecast.last import Last
from penstock.forecast.linear import Linear


def error_on(forecaster: Forecaster, rate: Callable[[float], float], minutes: int = 120) -> float:
    for minute in range(minutes):
        forecaster.learn(60.0 * minute, rate(60.0 * minute))
    assert forecaster.mean_absolute_error is not None
    return forecaster.mean_absolute_error


def ramp(t: float) -> float:
    return 1000 + 0.5 * t


def day(t: float) -> float:
    """A wave of one day: its next minutes look like a slope."""
    return 1000 + 800 * math.sin(2 * math.pi * t / 86_400)


def flicker(t: float) -> float:
    """Up and down at each minute around a constant: nothing to see for anyone."""
    return 1000 + (100 if t % 120 else -100)


def test_on_a_ramp_the_last_rate_is_one_step_late() -> None:
    assert error_on(Last(), ramp) == pytest.approx(30)  # 0.5 records/s more each second, for a minute


def test_on_a_ramp_a_line_and_a_trend_miss_only_the_second_point() -> None:
    assert error_on(Linear(), ramp) == pytest.approx(30 / 119)
    assert error_on(Holt(damping=1.0), ramp) == pytest.approx(30 / 119)


def test_a_damped_trend_lags_a_little_and_still_beats_the_last_rate() -> None:
    assert 30 / 119 < error_on(Holt(), ramp) < 30 / 5


def test_on_the_slopes_of_a_day_both_beat_the_last_rate_by_far() -> None:
    naive = error_on(Last(), day, minutes=1440)
    assert error_on(Linear(), day, minutes=1440) < naive / 3
    assert error_on(Holt(), day, minutes=1440) < naive / 3


def test_on_flicker_averages_beat_the_last_rate() -> None:
    naive = error_on(Last(), flicker)
    assert naive == 200
    assert error_on(Linear(window=3600.0), flicker) < 0.6 * naive
    assert error_on(Holt(alpha=0.1, beta=0.1), flicker) < 0.6 * naive


def test_a_falling_rate_is_predicted_to_stop_at_nothing() -> None:
    for forecaster in (Linear(), Holt(damping=1.0)):
        forecaster.learn(0, 100)
        forecaster.learn(60, 40)
        assert forecaster.predict(30) == 10
        assert forecaster.predict(60) == 0
