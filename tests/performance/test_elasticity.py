"""The elasticity figures: BUNGEE's own example to the digit, and what holds for all curves."""

from __future__ import annotations

from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.model import InvalidValueError
from penstock.performance.elasticity import StepCurve, elasticity


def curve(*points: tuple[float, float]) -> StepCurve:
    return StepCurve(tuple(t for t, _ in points), tuple(value for _, value in points))


# The example of the BUNGEE paper: twenty seconds.
DEMAND = curve((0, 1), (7, 5), (16, 3), (17, 2), (19, 4))
SUPPLY = curve((0, 1), (2, 2), (3, 1), (5, 3), (9, 7), (11, 6), (12, 8), (14, 2), (20, 2))


def test_bungees_example_comes_out_exactly() -> None:
    found = elasticity(DEMAND, SUPPLY, 20.0)

    assert found.accuracy_under == 13 / 20
    assert found.accuracy_over == 16 / 20
    assert found.timeshare_under == 6 / 20
    assert found.timeshare_over == 8 / 20
    assert (SUPPLY.moves(20.0), DEMAND.moves(20.0)) == (17.0, 9.0)
    assert found.jitter == (17 - 9) / 20


def test_shares_of_the_demand_are_those_of_each_moment() -> None:
    found = elasticity(DEMAND, SUPPLY, 20.0)

    # Missing: 2 of 5 and 3 of 5 for two seconds each, 1 of 3 and 2 of 4 for one.
    assert found.normalised_under == pytest.approx((2 * 2 / 5 + 2 * 3 / 5 + 1 / 3 + 2 / 4) / 20)
    # Idle: 1 of 1, twice 2 of 1, twice 2 of 5, 1 of 5, twice 3 of 5.
    assert found.normalised_over == pytest.approx((1 + 4 + 4 / 5 + 1 / 5 + 6 / 5) / 20)


def test_instability_counts_the_windows_in_which_only_one_moves_or_both_move_apart() -> None:
    # Seven changes of supply and four of demand, none in the same second.
    assert elasticity(DEMAND, SUPPLY, 20.0).instability == 11 / 20
    # Over five seconds: demand rises, stays, falls and rises; supply rises, rises, falls and stays.
    demand, supply = curve((0, 1), (2, 2), (11, 1), (16, 2)), curve((0, 1), (3, 2), (6, 3), (12, 2))
    assert elasticity(demand, supply, 20.0, window=5.0).instability == 2 / 4


def test_a_change_at_the_end_moves_nothing() -> None:
    assert curve((0, 1), (10, 5)).moves(10.0) == 0.0
    assert elasticity(curve((0, 1)), curve((0, 1), (10, 5)), 10.0).accuracy_over == 0.0


@pytest.mark.parametrize(
    ("times", "values"), [((), ()), ((0.0,), (1.0, 2.0)), ((1.0,), (1.0,)), ((0.0, 2.0, 1.0), (1.0,) * 3)]
)
def test_what_is_no_step_curve_is_refused(times: tuple[float, ...], values: tuple[float, ...]) -> None:
    with pytest.raises(InvalidValueError, match="step curve"):
        StepCurve(times, values)


curves = st.lists(st.tuples(st.integers(1, 30), st.integers(1, 9)), min_size=0, max_size=6).map(
    lambda points: curve((0, 3), *sorted(points))
)


@given(curves, curves)
def test_missing_and_idle_slots_add_up_to_the_difference_and_exclude_each_other(d: StepCurve, s: StepCurve) -> None:
    found = elasticity(d, s, 31.0)
    seconds = np.arange(31.0)
    mean = sum(difference for difference in s.at(seconds) - d.at(seconds)) / 31

    assert found.accuracy_over - found.accuracy_under == pytest.approx(mean, abs=1e-9)
    assert found.timeshare_under + found.timeshare_over <= 1.0 + 1e-9


@given(curves)
def test_supply_that_is_the_demand_has_nothing_but_zeros(d: StepCurve) -> None:
    found = elasticity(d, d, 31.0)

    assert set(astuple(found)) == {0.0}
