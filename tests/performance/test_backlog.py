"""The backlog model, with numbers worked out by hand from the settings of AuTraScale+, Fig. 11."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.model import (
    Latency,
    MissingFigureError,
    Observation,
    Operator,
    OperatorSample,
    Plan,
    Sample,
    Slo,
    Topology,
)
from penstock.performance.backlog import (
    BacklogModel,
    backlog_model,
    backlog_to_drain,
    draining_rate,
    saturated,
    time_left,
)

SLO = Slo(event_latency="500 ms", drain="6 min")
RATE = 14_000.0  # 40 % of the 35,000 records/s that Yahoo's job can do at most


@pytest.mark.parametrize(
    ("backlog", "event_latency_ms", "minutes", "steady", "target"),
    [
        (6e6, 250, 6, 700.0, 14_000 + 5_999_300 / 360),
        (12e6, 500, 8, 4_200.0, 14_000 + 11_995_800 / 480),
        (16e6, 1000, 10, 11_200.0, 14_000 + 15_988_800 / 600),
    ],
)
def test_fig_11_at_a_processing_latency_of_200_ms(
    backlog: float, event_latency_ms: float, minutes: int, steady: float, target: float
) -> None:
    model = BacklogModel(RATE, backlog, 200.0, event_latency_ms, 60.0 * minutes)
    assert model.steady_backlog == pytest.approx(steady)
    assert model.target_backlog == pytest.approx(backlog - steady)
    assert model.target_throughput == pytest.approx(target)
    # It does what it promises: at V, within the limit, what is left is what may wait.
    left = backlog + (RATE - model.target_throughput) * model.limit_seconds
    assert left == pytest.approx(steady)


def test_processing_that_alone_takes_too_long_leaves_no_time_to_wait() -> None:
    model = BacklogModel(RATE, 6e6, 300.0, 250.0, 360.0)
    assert model.steady_backlog == 0.0
    assert model.target_backlog == 6e6


@given(backlog=st.floats(0, 1e9), limit=st.floats(1, 1e4), rate=st.floats(1, 1e6))
def test_more_backlog_or_less_time_never_asks_for_less(backlog: float, limit: float, rate: float) -> None:
    target = BacklogModel(rate, backlog, 100.0, 500.0, limit).target_throughput
    assert target >= rate
    assert BacklogModel(rate, 2 * backlog, 100.0, 500.0, limit).target_throughput >= target
    assert BacklogModel(rate, backlog, 100.0, 500.0, limit / 2).target_throughput >= target


def sample(waiting: float | None, event_ms: float | None, t: float = 0.0, **changes: object) -> Sample:
    figures = {
        "t": t, "seconds": 60.0, "operators": {"op": OperatorSample(1)}, "input_rate": 100.0, "throughput": 100.0,
        "backlog": waiting, "processing_latency_ms": Latency(mean=200.0),
        "event_latency_ms": None if event_ms is None else Latency(mean=event_ms),
    }  # fmt: skip
    return Sample(**{**figures, **changes})  # type: ignore[arg-type]


def observed(*samples: Sample, slo: Slo = SLO) -> Observation:
    topology = Topology((Operator("op"),))
    return Observation(t=samples[-1].end, topology=topology, slo=slo, plan=Plan({"op": 1}), samples=samples)


def test_there_is_nothing_to_drain_where_the_target_is_met_not_set_or_little_waits() -> None:
    assert backlog_model(sample(9e3, 400.0), SLO, 360.0) is None
    assert backlog_model(sample(9e3, 9e4), Slo(), 360.0) is None
    assert backlog_model(sample(30.0, 600.0), SLO, 360.0) is None  # 100/s * 0.3 s may wait
    assert backlog_model(sample(31.0, 600.0), SLO, 360.0) is not None


def test_a_steady_states_latency_takes_the_place_of_the_windows_own() -> None:
    model = backlog_model(sample(9e3, 9e4), SLO, 360.0, processing_latency_ms=100.0)
    assert model is not None
    assert model.steady_backlog == pytest.approx(40.0)


@pytest.mark.parametrize("figure", ["input_rate", "backlog", "processing_latency_ms"])
def test_a_figure_that_nobody_measured_is_named(figure: str) -> None:
    with pytest.raises(MissingFigureError, match=figure):
        backlog_model(sample(9e3, 9e4, 0.0, **{figure: None}), SLO, 360.0)


def test_the_limit_runs_from_the_largest_backlog_since_the_target_was_last_met() -> None:
    windows = [(50e3, 9e4), (0.0, 300.0), (20e3, 9e4), (30e3, 9e4), (25e3, 9e4), (20e3, 9e4)]
    samples = [sample(backlog, event, 60.0 * i) for i, (backlog, event) in enumerate(windows)]
    model = backlog_to_drain(observed(*samples), default_limit=600.0)
    assert model is not None
    assert model.limit_seconds == 360.0 - 120.0
    assert model.target_throughput == pytest.approx(100 + (20e3 - 30.0) / 240.0)


def test_the_default_limit_holds_where_the_slo_names_none() -> None:
    model = backlog_to_drain(observed(sample(20e3, 9e4), slo=Slo(event_latency="500 ms")), default_limit=600.0)
    assert model is not None
    assert model.limit_seconds == 600.0


@given(elapsed=st.floats(0, 1e4), limit=st.floats(1, 1e3), least=st.floats(0.1, 100))
def test_there_is_always_time_left_and_never_more_than_the_limit(elapsed: float, limit: float, least: float) -> None:
    assert 0 < time_left(elapsed, limit, least) <= limit


def test_a_job_is_busy_when_more_waits_than_is_tolerated() -> None:
    assert saturated(sample(51.0, None), SLO)
    assert not saturated(sample(49.0, None), SLO)
    assert not saturated(sample(None, None), SLO)
    assert not saturated(sample(9e3, None, throughput=None), SLO)


def test_a_change_that_stops_the_job_is_made_up_for_within_the_limit() -> None:
    model = BacklogModel(RATE, 6e6, 200.0, 500.0, 360.0, downtime_seconds=20.0)
    waiting = 6e6 + RATE * 20.0  # nothing leaves while the job restarts
    left = waiting + (RATE - model.target_throughput) * 340.0
    assert left == pytest.approx(model.steady_backlog)


def test_a_downtime_beyond_the_limit_asks_for_a_finite_throughput() -> None:
    assert BacklogModel(RATE, 6e6, 200.0, 500.0, 60.0, downtime_seconds=90.0).target_throughput < 1e7


def test_what_a_plan_must_do_to_drain_in_time_is_that_of_the_equations_and_nothing_without_a_limit() -> None:
    seen = observed(sample(20e3, 9e4))
    assert draining_rate(seen, 20e3, 100.0, 0.5, 0.0) == pytest.approx(100 + (20e3 - 50) / 360)
    assert draining_rate(seen, 20e3, 100.0, 0.5, 20.0) == pytest.approx(100 + (20e3 - 50 + 2e3) / 340)
    assert draining_rate(seen, 49.0, 100.0, 0.5, 0.0) == 0.0
    assert draining_rate(observed(sample(20e3, 9e4), slo=Slo(event_latency="500 ms")), 20e3, 100.0, 0.5, 0.0) == 0.0
