"""What a recorder keeps of a run, however long it is."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.model import (
    Cycle,
    Decision,
    InvalidValueError,
    Latency,
    Mode,
    OperatorSample,
    Plan,
    ReasonCode,
    Sample,
    Slo,
)
from penstock.report.recorder import Point, Recorder

SLO = Slo(event_latency="500 ms", statistic="p95")


def window(t: float, seconds: float = 60.0, rate: float = 100.0, p95: float = 200.0, split: int = 2) -> Sample:
    return Sample(
        t=t,
        seconds=seconds,
        operators={"split": OperatorSample(split)},
        input_rate=rate,
        throughput=rate,
        backlog=0.0,
        event_latency_ms=Latency(mean=1.0, p95=p95),
    )


def cycle(sample: Sample, after: int | None = None, figures: dict[str, object] | None = None) -> Cycle:
    before = Plan({"split": sample.operators["split"].parallelism})
    target = before if after is None else Plan({"split": after})
    decision = Decision.move(before, target, "because", figures=figures or {})
    return Cycle(t=sample.end, mode=Mode.ACTIVE, before=before, decision=decision, samples=(sample,), applied=True)


def recorded(cycles: list[Cycle], most_points: int = 2000, most_changes: int = 500) -> Recorder:
    recorder = Recorder(SLO, most_points, most_changes)
    for each in cycles:
        recorder(each)
    return recorder


def test_a_short_run_is_kept_window_by_window_with_the_statistic_of_the_target() -> None:
    (point,) = recorded([cycle(window(0.0, rate=70.0, p95=300.0, split=3))]).points

    assert point.event_latency_ms == 300.0
    assert point.processing_latency_ms is None
    assert point.input_rate == point.throughput == 70.0
    assert point.parallelism == {"split": 3.0}
    assert point.missed_seconds == 0.0


def test_a_window_above_its_target_counts_as_missed_for_all_its_seconds() -> None:
    (point,) = recorded([cycle(window(0.0, p95=501.0))]).points

    assert point.missed_seconds == 60.0


def test_merged_windows_average_rates_by_time_and_keep_the_worst_latency() -> None:
    short = recorded([cycle(window(0.0, seconds=10.0, rate=100.0, p95=900.0, split=1))]).points[0]
    long = recorded([cycle(window(10.0, seconds=30.0, rate=200.0, p95=100.0, split=5))]).points[0]

    both = short.merged(long)

    assert (both.t, both.seconds, both.end) == (0.0, 40.0, 40.0)
    assert both.input_rate == 175.0
    assert both.parallelism == {"split": 4.0}
    assert both.event_latency_ms == 900.0
    assert both.missed_seconds == 10.0


def test_a_figure_measured_in_one_of_two_windows_is_that_of_both() -> None:
    point = recorded([cycle(window(0.0))]).points[0]
    blank = Point(60.0, 60.0, None, None, None, None, None, 0.0, {})

    assert point.merged(blank).input_rate == 100.0
    assert blank.merged(blank).input_rate is None
    assert blank.merged(point).event_latency_ms == 200.0


@given(
    count=st.integers(0, 700),
    most=st.integers(2, 33),
    rates=st.lists(st.floats(0, 1e6), min_size=1, max_size=5),
)
def test_memory_is_bounded_and_nothing_is_lost_by_merging(count: int, most: int, rates: list[float]) -> None:
    windows = [window(60.0 * i, rate=rates[i % len(rates)], p95=400.0 + i) for i in range(count)]
    points = recorded([cycle(each) for each in windows], most_points=most).points

    assert len(points) <= most
    assert sum(point.seconds for point in points) == 60.0 * count
    assert all(a.end == b.t for a, b in pairwise(points))
    offered = sum((point.input_rate or 0.0) * point.seconds for point in points)
    assert math.isclose(offered, sum(60.0 * each.offered_rate for each in windows), rel_tol=1e-9, abs_tol=1e-6)
    assert sum(point.missed_seconds for point in points) == 60.0 * max(0, count - 101)
    # All but the last hold equally many windows, so that the picture is as fine everywhere.
    assert len({point.seconds for point in points[:-1]}) <= 1


def test_a_long_run_still_has_at_least_half_the_points() -> None:
    points = recorded([cycle(window(60.0 * i)) for i in range(5001)], most_points=100).points

    assert 50 <= len(points) <= 100


def test_the_first_and_the_last_changes_are_kept_and_the_others_counted() -> None:
    moves = [cycle(window(60.0 * i, split=1 + i % 2), after=2 - i % 2) for i in range(30)]

    recorder = recorded(moves, most_changes=4)

    assert recorder.change_count == 30
    assert [change.t for change in recorder.changes] == [60.0, 120.0, 180.0, 240.0, 1620.0, 1680.0, 1740.0, 1800.0]
    assert recorder.changes_left_out == 22


def test_a_change_is_kept_without_the_bulk_that_the_store_has() -> None:
    recorder = recorded([cycle(window(0.0), after=9, figures={"long": list(range(1000))})])

    (change,) = recorder.changes
    assert change.changed
    assert change.samples == ()
    assert change.decision.figures == {}
    assert change.decision.reason.text == "because"


def test_reasons_and_guards_are_counted_over_all_cycles() -> None:
    grow = cycle(window(0.0), after=9)
    vetted = grow.decision.vetted("bounds", ReasonCode.BOUNDS, "too many", Plan({"split": 4}))
    held = Cycle(t=60.0, mode=Mode.ACTIVE, before=grow.before, decision=vetted, applied=True)

    recorder = recorded([grow, held, cycle(window(60.0))])

    assert recorder.reasons == {ReasonCode.SCALE_UP: 2, ReasonCode.STEADY: 1}
    assert recorder.guards == {"bounds": 1}


def test_bounds_that_could_not_hold_anything_are_refused() -> None:
    with pytest.raises(InvalidValueError, match="most_points must be a whole number of at least 2"):
        Recorder(SLO, most_points=1)
