"""Level and trend, by hand and over irregular steps."""

import pytest

from penstock.forecast import FORECASTERS
from penstock.forecast.holt import Holt
from penstock.forecast.linear import Linear
from penstock.model import InvalidValueError


def test_it_starts_as_the_line_through_all_that_it_saw() -> None:
    holt, line = Holt(alpha=0.01, beta=0.01, damping=1.0), Linear()
    for i, rate in enumerate([100, 110, 140, 90, 120, 125]):
        holt.learn(10 * i, rate)
        line.learn(10 * i, rate)
        assert holt.predict(30) == pytest.approx(line.predict(30))


def test_then_a_regular_series_follows_the_textbook() -> None:
    forecaster = Holt(alpha=0.5, beta=0.2, damping=1.0)
    for i in range(31):
        forecaster.learn(10 * i, 100)
    forecaster.learn(310, 120)
    # Predicted at 100, missed by 20: level 100 + 0.5 * 20, trend 0.5 * 0.2 * 20 for each step.
    assert forecaster.predict(0) == pytest.approx(110)
    assert forecaster.predict(10) == pytest.approx(112)
    forecaster.learn(320, 122)
    # Predicted at 112, missed by 10: level 112 + 0.5 * 10, trend 2 + 0.5 * 0.2 * 10.
    assert forecaster.predict(0) == pytest.approx(117)
    assert forecaster.predict(10) == pytest.approx(120)
    assert forecaster.error.mean_absolute == pytest.approx((20 + 10) / 32)


def test_a_damped_trend_fades_with_each_step() -> None:
    forecaster = Holt(damping=0.5)
    forecaster.learn(0, 100)
    forecaster.learn(10, 120)  # 20 per step
    assert forecaster.predict(10) == pytest.approx(120 + 20 * 0.5)
    assert forecaster.predict(20) == pytest.approx(120 + 20 * (0.5 + 0.25))
    assert forecaster.predict(1e6) == pytest.approx(120 + 20)  # the whole of the geometric series


@pytest.mark.parametrize("damping", [1.0, 0.9])
def test_on_a_straight_line_irregular_steps_do_not_matter_if_undamped(damping: float) -> None:
    forecaster = Holt(damping=damping)
    for t in (0, 10, 15, 60, 61, 200):
        forecaster.learn(t, 100 + 2 * t)
    late = forecaster.predict(50)
    assert late is not None
    assert (late == pytest.approx(600)) == (damping == 1.0)
    assert late <= 600 + 1e-9


def test_a_long_step_counts_for_as_many_usual_ones_as_fit_in_it() -> None:
    short, long = Holt(), Holt()
    for forecaster, step in ((short, 10), (long, 70)):
        for i in range(30):
            forecaster.learn(10 * i, 100)
        forecaster.learn(290 + step, 200)
    near, far = short.predict(0), long.predict(0)
    assert near is not None
    assert far is not None
    assert near == pytest.approx(150, abs=1)  # half of the miss at a usual step
    assert far > 195  # nearly all of it after seven


def test_the_unit_of_time_does_not_matter() -> None:
    fast, slow = Holt(), Holt()
    for i, rate in enumerate([100, 120, 90, 150, 160]):
        fast.learn(i, rate)
        slow.learn(1000 * i, rate)
    assert fast.predict(1) == pytest.approx(slow.predict(1000))


@pytest.mark.parametrize("option", ["alpha", "beta", "damping"])
@pytest.mark.parametrize("value", [0.0, -0.1, 1.1])
def test_impossible_options_are_refused(option: str, value: float) -> None:
    with pytest.raises(InvalidValueError) as refused:
        FORECASTERS.create("holt", {option: value})
    assert str(refused.value) == f"{option} must be more than 0 and at most 1, not {value!r}"
