"""The laws that every forecaster keeps."""

import itertools
import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.forecast import FORECASTERS, Forecaster
from penstock.model import InvalidValueError

Curve = list[tuple[float, float]]
pytestmark = pytest.mark.parametrize("name", FORECASTERS.names())

RATES = st.floats(0, 1e6)
STARTS = st.sampled_from([0.0, 1.7e9])  # a simulation's clock, and Unix time
AHEAD = st.floats(0, 3600)


@st.composite
def curves(draw: st.DrawFn, least: int = 1, rates: st.SearchStrategy[float] = RATES) -> Curve:
    """Rates at growing times, some close to each other, some far."""
    steps = draw(st.lists(st.floats(0.1, 300), min_size=least, max_size=12))
    times = itertools.accumulate(steps, initial=draw(STARTS))
    return [(t, draw(rates)) for t in itertools.islice(times, len(steps))]


def taught(name: str, curve: Curve) -> Forecaster:
    forecaster = FORECASTERS.create(name)
    for t, rate in curve:
        forecaster.learn(t, rate)
    return forecaster


def test_nothing_is_predicted_before_the_first_measurement(name: str) -> None:
    forecaster = FORECASTERS.create(name)
    assert forecaster.predict(60) is None
    assert forecaster.mean_absolute_error is None


def test_no_error_is_known_before_the_second_measurement(name: str) -> None:
    forecaster = taught(name, [(0, 100)])
    assert forecaster.predict(60) == 100
    assert forecaster.mean_absolute_error is None
    forecaster.learn(60, 130)
    assert forecaster.mean_absolute_error == 30


@settings(max_examples=30)
@given(curve=curves(), ahead=AHEAD)
def test_a_prediction_is_a_finite_rate_and_never_negative(name: str, curve: Curve, ahead: float) -> None:
    predicted = taught(name, curve).predict(ahead)
    assert predicted is not None
    assert 0 <= predicted < math.inf


@settings(max_examples=30)
@given(curve=curves(), rate=RATES, ahead=AHEAD)
def test_a_constant_rate_is_predicted_exactly(name: str, curve: Curve, rate: float, ahead: float) -> None:
    forecaster = taught(name, [(t, rate) for t, _ in curve])
    assert forecaster.predict(ahead) == rate
    assert forecaster.mean_absolute_error in (None, 0)


@settings(max_examples=30)
@given(curve=curves(), ahead=AHEAD)
def test_two_of_a_kind_that_saw_the_same_predict_the_same(name: str, curve: Curve, ahead: float) -> None:
    one, other = taught(name, curve), taught(name, curve)
    assert one.predict(ahead) == other.predict(ahead)
    assert one.predict(ahead) == one.predict(ahead)  # asking changes nothing
    assert one.state() == other.state()


@settings(max_examples=30)
@given(curve=curves(least=2), ahead=AHEAD, data=st.data())
def test_after_a_restart_it_goes_on_bit_for_bit(name: str, curve: Curve, ahead: float, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(curve)))
    stopped, restarted = taught(name, curve[:cut]), FORECASTERS.create(name)
    restarted.restore(json.loads(json.dumps(stopped.state())))
    for t, rate in curve[cut:]:
        stopped.learn(t, rate)
        restarted.learn(t, rate)
    assert restarted.predict(ahead) == stopped.predict(ahead)
    assert restarted.mean_absolute_error == stopped.mean_absolute_error
    assert restarted.state() == stopped.state()


@settings(max_examples=30)
@given(curve=curves())
def test_its_state_does_not_change_behind_ones_back(name: str, curve: Curve) -> None:
    forecaster = taught(name, curve)
    state = forecaster.state()
    before = json.dumps(state)
    forecaster.learn(curve[-1][0] + 1, 5)
    assert json.dumps(state) == before


@pytest.mark.parametrize("t", [60.0, 59.0, 0.0])
def test_time_only_grows(name: str, t: float) -> None:
    forecaster = taught(name, [(0, 100), (60, 110)])
    before = json.dumps(forecaster.state())
    with pytest.raises(InvalidValueError, match=rf"^t must be later than 60 s, not {t:g} s$"):
        forecaster.learn(t, 100)
    assert json.dumps(forecaster.state()) == before  # a refused measurement leaves no trace


@pytest.mark.parametrize(
    ("t", "rate", "field"),
    [(math.nan, 1, "t"), (None, 1, "t"), (0, -1, "rate"), (0, math.nan, "rate"), (0, "9", "rate")],
)
def test_what_is_no_rate_or_no_time_is_refused(name: str, t: Any, rate: Any, field: str) -> None:
    forecaster = FORECASTERS.create(name)
    with pytest.raises(InvalidValueError, match=f"^{field} must be a finite number of at least 0"):
        forecaster.learn(t, rate)
    assert forecaster.predict(1) is None


@pytest.mark.parametrize("ahead", [-1, math.nan, math.inf])
def test_it_looks_ahead_only(name: str, ahead: float) -> None:
    with pytest.raises(InvalidValueError, match=r"^seconds_ahead must be a finite number of at least 0"):
        taught(name, [(0, 1)]).predict(ahead)
