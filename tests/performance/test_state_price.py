"""The price of a change by the bytes of state."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.performance.state_price import FIXED_SECONDS, KEPT, SECONDS_PER_BYTE, StatePrice

SIZES = st.floats(0.0, 1e12)


def line(state_bytes: float, fixed: float = 1.0, by_size: float = 1.0) -> float:
    return fixed * FIXED_SECONDS + by_size * SECONDS_PER_BYTE * state_bytes


@given(state_bytes=SIZES)
@settings(deadline=None)
def test_before_a_change_it_is_the_measured_line(state_bytes: float) -> None:
    assert StatePrice().seconds(state_bytes) == pytest.approx(line(state_bytes))


@given(state_bytes=SIZES, factor=st.floats(0.1, 10.0))
@settings(deadline=None)
def test_one_change_shows_what_the_next_one_of_that_size_costs(state_bytes: float, factor: float) -> None:
    price, silence = StatePrice(), factor * line(state_bytes)
    price.learn(state_bytes, silence)
    assert price.seconds(state_bytes) == pytest.approx(silence, rel=0.2)


def test_a_job_with_another_line_is_found_out_from_changes_of_several_sizes() -> None:
    price = StatePrice()
    for state_bytes in (1e7, 1e9, 1e8, 5e8, 2e7, 2e9):
        price.learn(state_bytes, line(state_bytes, fixed=3.0, by_size=0.4))
    for state_bytes in (0.0, 3e8, 4e9):
        assert price.seconds(state_bytes) == pytest.approx(line(state_bytes, fixed=3.0, by_size=0.4), rel=0.1)


def test_the_newest_changes_count_most() -> None:
    price = StatePrice()
    for factor in (5.0, 5.0, 5.0, *(1.0,) * 20):
        price.learn(1e8, factor * line(1e8))
    assert price.seconds(1e8) == pytest.approx(line(1e8), rel=5 * KEPT**20 + 0.02)


@given(changes=st.lists(st.tuples(SIZES, st.floats(0.0, 1e5)), max_size=8), state_bytes=SIZES)
@settings(deadline=None)
def test_no_change_costs_less_than_nothing_and_more_state_is_never_cheaper(
    changes: list[tuple[float, float]], state_bytes: float
) -> None:
    price = StatePrice()
    for change in changes:
        price.learn(*change)
    assert 0.0 <= price.seconds(state_bytes) <= price.seconds(2 * state_bytes)


def test_it_goes_on_where_it_stopped() -> None:
    price = StatePrice()
    price.learn(1e8, 20.0)
    again = StatePrice.restored(json.loads(json.dumps(price.state())))
    assert (again.seconds(5e8), again.state()) == (price.seconds(5e8), price.state())
