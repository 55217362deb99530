"""The mean of what was measured, the newer the more."""

import pytest

from penstock.forecast.average import Average
from penstock.model import InvalidValueError


def test_after_a_half_life_what_was_before_counts_for_half() -> None:
    forecaster = Average(half_life=600.0)
    for step in range(2000):
        forecaster.learn(10.0 * step, 100.0)
    for step in range(2000, 2060):
        forecaster.learn(10.0 * step, 300.0)
    assert forecaster.predict(60) == pytest.approx(200.0, rel=1e-3)


def test_how_often_one_measures_does_not_matter() -> None:
    often, seldom = Average(half_life=600.0), Average(half_life=600.0)
    for second in range(0, 3601, 10):
        often.learn(second, 100.0 if second <= 1800 else 300.0)
    for second in range(0, 3601, 60):
        seldom.learn(second, 100.0 if second <= 1800 else 300.0)
    assert often.predict(60) == pytest.approx(seldom.predict(60), rel=1e-9)


def test_at_the_start_it_is_a_plain_mean() -> None:
    forecaster = Average(half_life=1e9)
    for step, rate in enumerate((0.0, 100.0, 200.0, 300.0)):
        forecaster.learn(60.0 * step, rate)
    assert forecaster.predict(0) == pytest.approx(200.0, rel=1e-6)  # the first stands for no time


def test_a_half_life_must_be_positive() -> None:
    with pytest.raises(InvalidValueError, match="half_life"):
        Average(half_life=0.0)
