"""A live run summed up from its cycles."""

from __future__ import annotations

from dataclasses import replace

import pytest

from penstock.model import (
    Cycle,
    Decision,
    Latency,
    Mode,
    OperatorSample,
    Plan,
    ReasonCode,
    Sample,
    Slo,
)
from penstock.runs.summary import RunSummary, since

SLO = Slo(event_latency="500 ms")
SMALL, LARGE = Plan({"a": 1, "b": 2}), Plan({"a": 4, "b": 4})


def cycle(t: float, plan: Plan, latency_ms: float, after: Plan | None = None) -> Cycle:
    sample = Sample(
        t=t,
        seconds=10.0,
        operators={name: OperatorSample(k) for name, k in plan.parallelism.items()},
        input_rate=100.0,
        throughput=90.0,
        event_latency_ms=Latency(mean=latency_ms, p50=latency_ms, p95=2 * latency_ms, p99=3 * latency_ms),
    )
    decision = Decision.hold(plan, ReasonCode.STEADY, "as it is")
    if after is not None:
        decision = Decision.move(plan, after, "more is needed")
    return Cycle(t=t + 10, mode=Mode.ACTIVE, before=plan, decision=decision, samples=(sample,), applied=True)


def test_cores_violations_changes_and_records_add_up() -> None:
    summary = RunSummary(SLO, lambda plan: plan.widest, LARGE)
    summary(cycle(0, SMALL, 900.0, after=LARGE))
    summary(cycle(10, LARGE, 100.0))
    summary(cycle(20, LARGE, 100.0))
    summary.decided(7.0)
    result = summary.result(policy="ds2", workload="job", trace="surge", seed=0, seconds=30.0)
    assert result.seconds == 30.0
    assert result.violation_ratio == pytest.approx(1 / 3)
    assert result.core_seconds == 10 * 2 + 20 * 4  # sequentially the widest operator is what is reserved
    assert result.mean_parallelism == pytest.approx((3 + 8 + 8) / 3)
    assert result.rescales == 1
    assert result.processed_ratio == pytest.approx(0.9)
    assert result.throughput_degradation == pytest.approx(0.1)
    assert result.event_latency_ms.mean == pytest.approx(1100 / 3)
    assert result.event_latency_ms.p95 == 1800.0
    assert result.decision_ms.p50 == 7.0
    assert result.lost_records is None  # nobody counted them


def test_a_window_whose_input_was_not_measured_counts_neither_as_processed_nor_as_missed() -> None:
    summary = RunSummary(SLO, lambda plan: plan.widest, LARGE)
    summary(cycle(0, SMALL, 100.0))
    unmeasured = cycle(10, SMALL, 100.0)
    summary(replace(unmeasured, samples=tuple(replace(each, input_rate=None) for each in unmeasured.samples)))
    result = summary.result(policy="ds2", workload="job", trace="surge", seed=0, seconds=20.0)
    assert result.seconds == 20.0
    assert result.processed_ratio == pytest.approx(0.9)


def test_plans_are_charged_for_the_whole_span_whatever_was_measured_in_it() -> None:
    summary = RunSummary(SLO, lambda plan: plan.widest, LARGE)
    unmeasured = replace(cycle(0, SMALL, 900.0, after=LARGE), samples=())
    summary(unmeasured)
    summary(cycle(10, LARGE, 900.0))
    result = summary.result(policy="ds2", workload="job", trace="surge", seed=0, seconds=60.0)
    assert (result.core_seconds, result.unit) == (10 * 2 + 50 * 4, "slot")
    assert result.violation_ratio == 1.0  # of the time that was measured


def test_cores_that_were_paid_for_are_what_a_run_took() -> None:
    summary = RunSummary(SLO, lambda plan: plan.widest, LARGE)
    summary(cycle(0, SMALL, 100.0))
    result = summary.result(policy="ds2", workload="job", trace="surge", seed=0, seconds=10.0, paid=77.0)
    assert (result.core_seconds, result.unit) == (77.0, "core")


def test_a_run_of_nothing_is_no_run() -> None:
    summary = RunSummary(SLO, lambda plan: plan.total, LARGE)
    result = summary.result(policy="ds2", workload="job", trace="surge", seed=0, seconds=0.0)
    assert (result.seconds, result.violation_ratio, result.core_seconds) == (0.0, 0.0, 0.0)


def test_times_are_counted_from_the_beginning() -> None:
    shown = since(cycle(1_000.0, SMALL, 1.0), began=990.0)
    assert (shown.t, shown.samples[0].t) == (20.0, 10.0)
