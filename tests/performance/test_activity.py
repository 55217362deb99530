"""AUTOSCALE's equations and tables, each by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.model import Operator, Topology
from penstock.performance.activity import (
    Action,
    Activity,
    Estimate,
    capacity,
    consistent_inputs,
    estimated_capacity,
    estimated_received,
    new_degree,
)
from penstock.performance.regression import least_squares

DIAMOND = Topology(
    tuple(map(Operator, ("read", "left", "right", "join"))),
    (("read", "left"), ("read", "right"), ("left", "join"), ("right", "join")),
)
CHAIN = Topology(tuple(map(Operator, ("a", "b", "c"))), (("a", "b"), ("b", "c")))


def expecting(
    records: float, holds: float, selectivity: float = 1.0, shares: dict[str, float] | None = None
) -> Estimate:
    """An operator that will have so many records to process and can process so many."""
    whole = dict.fromkeys(("read", "left", "right", "a", "b"), 1.0)
    return Estimate(records, 0.0, holds, holds, selectivity, increasing=False, shares=shares or whole)


def test_the_next_window_is_the_trend_summed_over_its_timestamps() -> None:
    """Received 100, 110 ... 150 every 10 s up to 60 s: 160 to 210 follow, 1110 in all."""
    times = [10.0 * i for i in range(1, 7)]
    trend = least_squares(times, [90.0 + t for t in times])
    assert estimated_received(trend, [t + 60 for t in times]) == pytest.approx(160 + 170 + 180 + 190 + 200 + 210)


def test_a_falling_trend_is_floored_at_nothing_at_each_timestamp() -> None:
    """Received 50, 40 ... 0: the line goes to -10 and below, and counts as none."""
    times = [10.0 * i for i in range(1, 7)]
    trend = least_squares(times, [60.0 - t for t in times])
    assert estimated_received(trend, [t + 60 for t in times]) == 0.0
    assert estimated_received(trend, [50, 60, 70]) == pytest.approx(10)


def test_capacity_of_the_papers_operators() -> None:
    assert capacity(0.080, 60, 1) == pytest.approx(750)
    assert capacity(0.002, 60, 1) == pytest.approx(30_000)


def test_estimated_capacity_adds_covariance_over_deviation() -> None:
    """1, 2, 3, 4: lag-one covariance 2/3, deviation sqrt(1.25)."""
    assert estimated_capacity([1, 2, 3, 4]) == pytest.approx(4 + (2 / 3) / 1.25**0.5)


def test_a_capacity_that_swings_is_expected_to_swing_back() -> None:
    """3, 5, 3, 5: lag-one covariance -8/9, deviation 1."""
    assert estimated_capacity([3, 5, 3, 5]) == pytest.approx(5 - 8 / 9)


@pytest.mark.parametrize("known", [[400.0], [400.0, 500.0], [0.1, 0.1, 0.1]])
def test_with_nothing_to_compare_the_last_capacity_stands(known: list[float]) -> None:
    assert estimated_capacity(known) == known[-1]


@given(st.lists(st.floats(1e-3, 1e6), min_size=1, max_size=12))
def test_the_estimate_stays_within_half_of_the_last_capacity(capacities: list[float]) -> None:
    last = capacities[-1]
    assert last / 2 <= estimated_capacity(capacities) <= last * 1.5


def test_half_of_the_last_capacity_is_where_it_stops() -> None:
    assert estimated_capacity([1000, 900, 500, 100, 10]) == 15
    assert estimated_capacity([1000, 10, 1000, 10, 100]) == 50


@pytest.mark.parametrize(
    ("level", "band"),
    [
        (0.0, "low"), (0.3, "low"), (0.300001, "medium"), (0.8, "medium"), (0.800001, "high"),
        (1.0, "high"), (1.000001, "critical"), (7.0, "critical"),
    ],
)  # fmt: skip
def test_each_band_includes_its_upper_end(level: float, band: str) -> None:
    assert Activity.of(level, 0.3, 0.8) == band


def test_a_level_that_is_a_bound_but_for_rounding_is_the_bound() -> None:
    assert Activity.of(0.1 + 0.2, 0.3, 0.8) is Activity.LOW


@pytest.mark.parametrize(
    ("activity", "not_increasing", "increasing"),
    [
        (Activity.LOW, "scale-in", "nothing"),
        (Activity.MEDIUM, "nothing", "nothing"),
        (Activity.HIGH, "nothing", "scale-out"),
        (Activity.CRITICAL, "scale-out", "scale-out"),
    ],
)
def test_the_decision_matrix(activity: Activity, not_increasing: str, increasing: str) -> None:
    assert Action.of(activity, increasing=False) == not_increasing
    assert Action.of(activity, increasing=True) == increasing


def test_new_degrees() -> None:
    out, in_ = Action.SCALE_OUT, Action.SCALE_IN
    assert new_degree(3, 0.85, Activity.HIGH, out) == 4
    assert new_degree(3, 0.85, Activity.HIGH, Action.NOTHING) == 3
    assert new_degree(3, 2.5, Activity.CRITICAL, out) == 8
    assert new_degree(2, 1.5, Activity.CRITICAL, out) == 3  # 3.0 exactly, not 4
    assert new_degree(8, 0.3, Activity.LOW, in_) == 3
    assert new_degree(8, 0.125, Activity.LOW, in_) == 1


def test_a_parent_passes_on_no_more_than_it_can_process() -> None:
    critical = expecting(2000, 1000, selectivity=0.5)
    assert critical.output(2000) == 500
    assert critical.output(600) == 300


def test_children_of_a_critical_parent_combine_and_others_do_not() -> None:
    estimates = {"a": expecting(2000, 1000), "b": expecting(700, 5000), "c": expecting(100, 5000)}
    assert consistent_inputs(CHAIN, estimates, 0.3, 0.8, "max") == {"a": 2000, "b": 1000, "c": 100}
    assert consistent_inputs(CHAIN, estimates, 0.3, 0.8, "min") == {"a": 2000, "b": 700, "c": 100}


def test_a_parent_at_its_limit_is_not_yet_critical() -> None:
    estimates = {"a": expecting(1000, 1000), "b": expecting(700, 5000), "c": expecting(100, 5000)}
    assert consistent_inputs(CHAIN, estimates, 0.3, 0.8, "max")["b"] == 700


def test_a_parent_that_becomes_critical_warns_its_own_children() -> None:
    """Back-pressure let b see 100 of the 1000 that a can send; b is then too small, and so will c be."""
    estimates = {"a": expecting(9000, 1000), "b": expecting(100, 400, selectivity=2.0), "c": expecting(200, 5000)}
    assert consistent_inputs(CHAIN, estimates, 0.3, 0.8, "max") == {"a": 9000, "b": 1000, "c": 800}
    assert consistent_inputs(CHAIN, estimates, 0.3, 0.8, "min") == {"a": 9000, "b": 100, "c": 200}


def test_a_parent_that_is_no_longer_critical_warns_nobody() -> None:
    """b is critical by itself; with min it shrinks to what a sends."""
    estimates = {"a": expecting(200, 100), "b": expecting(900, 500), "c": expecting(450, 5000)}
    assert consistent_inputs(CHAIN, estimates, 0.3, 0.8, "min") == {"a": 200, "b": 100, "c": 450}
    assert consistent_inputs(CHAIN, estimates, 0.3, 0.8, "max") == {"a": 200, "b": 900, "c": 500}


def test_a_join_hears_all_its_parents_when_one_is_critical() -> None:
    estimates = {
        "read": expecting(100, 1000),
        "left": expecting(900, 600, selectivity=2.0),
        "right": expecting(300, 600),
        "join": expecting(1000, 9000),
    }
    inputs = consistent_inputs(DIAMOND, estimates, 0.3, 0.8, "max")
    assert inputs == {"read": 100, "left": 900, "right": 300, "join": 600 * 2 + 300}
    assert consistent_inputs(DIAMOND, estimates, 0.3, 0.8, "min")["join"] == 1000


def test_a_child_that_gets_a_part_of_the_output_counts_that_part() -> None:
    estimates = {
        "read": expecting(3000, 1000),
        "left": expecting(100, 900, shares={"read": 0.25}),
        "right": expecting(100, 900, shares={"read": 0.75}),
        "join": expecting(100, 9000),
    }
    inputs = consistent_inputs(DIAMOND, estimates, 0.3, 0.8, "max")
    assert (inputs["left"], inputs["right"]) == (250, 750)


def test_ways_of_different_length_still_visit_parents_first() -> None:
    """join is two steps from read one way and one step the other: its slow parent must be settled before."""
    job = Topology(tuple(map(Operator, ("a", "b", "c"))), (("a", "c"), ("a", "b"), ("b", "c")))
    estimates = {"a": expecting(300, 200), "b": expecting(50, 60), "c": expecting(10, 1000)}
    assert consistent_inputs(job, estimates, 0.3, 0.8, "max") == {"a": 300, "b": 200, "c": 260}
