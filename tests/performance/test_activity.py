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
    Sizing,
    capacity,
    estimated_capacity,
    estimated_received,
    new_degree,
    sized,
)
from penstock.performance.regression import least_squares

DIAMOND = Topology(
    tuple(Operator(name, max=100) for name in ("read", "left", "right", "join")),
    (("read", "left"), ("read", "right"), ("left", "join"), ("right", "join")),
)
CHAIN = Topology(tuple(Operator(name, max=100) for name in "abc"), (("a", "b"), ("b", "c")))


def expecting(
    records: float, holds: float, selectivity: float = 1.0, shares: dict[str, float] | None = None
) -> Estimate:
    """An operator that will have so many records to process and can process so many."""
    whole = dict.fromkeys(("read", "left", "right", "a", "b"), 1.0)
    return Estimate(records, 0.0, 1, holds, holds, selectivity, increasing=False, shares=shares or whole)


def inputs(topology: Topology, estimates: dict[str, Estimate], combine: str) -> dict[str, float]:
    return {name: each.input for name, each in sized(topology, estimates, 0.3, 0.8, combine).items()}


def degrees(topology: Topology, estimates: dict[str, Estimate], combine: str = "max") -> dict[str, int]:
    return {name: each.degree for name, each in sized(topology, estimates, 0.3, 0.8, combine).items()}


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


def test_a_parent_passes_on_no_more_than_it_can_process_at_a_degree() -> None:
    critical = expecting(2000, 1000, selectivity=0.5)
    assert critical.output(2000, degree=1) == 500
    assert critical.output(600, degree=1) == 300
    assert critical.output(2000, degree=2) == 1000


def test_a_child_is_sized_for_what_its_parent_sends_at_its_new_degree() -> None:
    """a expects 300 and can do 100: it gets 3 instances, which send 300; b, which saw 100, can do 150: it gets 2."""
    estimates = {"a": expecting(300, 100), "b": expecting(100, 150), "c": expecting(90, 1000)}
    assert degrees(CHAIN, estimates) == {"a": 3, "b": 2, "c": 1}
    assert degrees(CHAIN, estimates, "min") == {"a": 3, "b": 1, "c": 1}
    alone = {name: new_degree(1, own.level(own.input), Activity.of(own.level(own.input), 0.3, 0.8), Action.SCALE_OUT)
             for name, own in estimates.items()}  # fmt: skip
    assert alone["b"] == 1  # b itself sees nothing coming


def test_a_parent_that_may_not_grow_further_sends_what_its_most_instances_can() -> None:
    job = Topology((Operator("a", max=2), Operator("b", max=9)), (("a", "b"),))
    assert inputs(job, {"a": expecting(300, 100), "b": expecting(100, 150)}, "max") == {"a": 300, "b": 200}


def test_the_level_always_combines_critical_parent_or_not() -> None:
    """(10) has no condition: a is far from critical, and sends b more than b saw in its own window."""
    estimates = {"a": expecting(700, 1000), "b": expecting(500, 1000), "c": expecting(100, 1000)}
    assert inputs(CHAIN, estimates, "max") == {"a": 700, "b": 700, "c": 500}
    assert inputs(CHAIN, estimates, "min") == {"a": 700, "b": 500, "c": 100}


def test_only_behind_a_critical_parent_the_combined_estimate_is_passed_on() -> None:
    """Algorithm 1: behind a critical a, b's children hear of what comes; behind a calm one they do not."""
    calm = {"a": expecting(900, 1000), "b": expecting(100, 1000), "c": expecting(100, 1000)}
    critical = calm | {"a": expecting(1900, 1000)}
    assert inputs(CHAIN, calm, "max") == {"a": 900, "b": 900, "c": 100}
    assert inputs(CHAIN, critical, "max") == {"a": 1900, "b": 1900, "c": 1900}


def test_critical_is_judged_at_local_scale() -> None:
    """b becomes critical only by what a will send: for d, three steps down, that is no critical parent yet."""
    job = Topology(tuple(Operator(name, max=100) for name in "abcd"), (("a", "b"), ("b", "c"), ("c", "d")))
    whole = dict.fromkeys("abc", 1.0)
    estimates = {name: expecting(100, 400, shares=whole) for name in "bcd"} | {"a": expecting(900, 300)}
    assert inputs(job, estimates, "max") == {"a": 900, "b": 900, "c": 900, "d": 100}


def test_a_parent_at_its_limit_is_not_yet_critical() -> None:
    estimates = {"a": expecting(1000, 1000), "b": expecting(700, 5000), "c": expecting(100, 5000)}
    assert inputs(CHAIN, estimates, "max") == {"a": 1000, "b": 1000, "c": 700}


def test_a_frugal_child_shrinks_to_what_its_parent_sends_though_records_wait() -> None:
    """With min, b forgets the 900 that it expects, queue included: its parent sends no more than 200."""
    estimates = {"a": expecting(200, 100), "b": expecting(900, 500), "c": expecting(450, 5000)}
    assert inputs(CHAIN, estimates, "min") == {"a": 200, "b": 200, "c": 200}
    assert degrees(CHAIN, estimates, "min") == {"a": 2, "b": 1, "c": 1}
    assert degrees(CHAIN, estimates, "max") == {"a": 2, "b": 2, "c": 1}


def test_a_join_hears_all_its_parents() -> None:
    estimates = {
        "read": expecting(100, 1000),
        "left": expecting(900, 600, selectivity=2.0),
        "right": expecting(300, 600),
        "join": expecting(1000, 9000),
    }
    assert inputs(DIAMOND, estimates, "max")["join"] == 900 * 2 + 300
    assert inputs(DIAMOND, estimates, "min")["join"] == 1000


def test_a_child_that_gets_a_part_of_the_output_counts_that_part() -> None:
    estimates = {
        "read": expecting(3000, 1000),
        "left": expecting(100, 900, shares={"read": 0.25}),
        "right": expecting(100, 900, shares={"read": 0.75}),
        "join": expecting(100, 9000),
    }
    found = inputs(DIAMOND, estimates, "max")
    assert (found["left"], found["right"]) == (750, 2250)


def test_ways_of_different_length_still_visit_parents_first() -> None:
    """c is two steps from a one way and one step the other: its slow parent must be settled before."""
    job = Topology(tuple(Operator(name, max=100) for name in "abc"), (("a", "c"), ("a", "b"), ("b", "c")))
    estimates = {"a": expecting(300, 200), "b": expecting(50, 60), "c": expecting(10, 1000)}
    assert inputs(job, estimates, "max") == {"a": 300, "b": 300, "c": 600}


def test_a_sizing_says_all_that_was_found() -> None:
    found = sized(CHAIN, {name: expecting(100, 1000) for name in "abc"}, 0.3, 0.8, "max")["a"]
    assert found == Sizing(100, 0.1, Activity.LOW, Action.SCALE_IN, 1, 100)
