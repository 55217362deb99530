from __future__ import annotations

import pytest

from penstock import Slo
from penstock.model import Cycle, Decision, Latency, Mode, OperatorSample, Reason, ReasonCode, Sample
from penstock.spark.application.savings import Savings
from penstock.spark.executors.shared_slots import Share
from penstock.spark.measure.query_monitor import JOB

TWO_SLOTS_EACH = Share(slots_each=2, least=1, most=5)


def cycle(t: float, mode: Mode, before: int, decided: int, latency_ms: float | None = None) -> Cycle:
    now, plan = TWO_SLOTS_EACH.plan(before), TWO_SLOTS_EACH.plan(decided)
    sample = Sample(
        t=t, seconds=10, operators={JOB: OperatorSample(1)},
        event_latency_ms=None if latency_ms is None else Latency(mean=latency_ms),
    )  # fmt: skip
    decision = Decision(plan=plan, reason=Reason(ReasonCode.SCALE_DOWN, "it is idle"))
    return Cycle(
        t=t, mode=mode, before=now, decision=decision, samples=(sample,), applied=mode is Mode.ACTIVE
    )  # fmt: skip


def savings(mode: Mode) -> Savings:
    return Savings(Slo(event_latency="10 s"), mode, cores_each=2, most=5)


def test_monitor_mode_compares_what_was_decided_with_what_was_taken() -> None:
    added = savings(Mode.MONITOR)
    for t in (100.0, 110.0, 120.0):
        added.add(cycle(t, Mode.MONITOR, before=4, decided=1))
    report = added.report()
    assert (report.core_seconds, report.decided_core_seconds, report.seconds) == (160, 40, 20)
    assert report.saved == 0.75
    assert report.changes == 0
    assert "would take 40 core-seconds where 160 were taken: 75 % less" in str(report)
    assert "in force: job 8; 4 executors; decided: job 2; 1 executors, because it is idle" in str(report)


def test_a_job_that_is_too_small_would_take_more_and_the_report_says_so() -> None:
    added = savings(Mode.MONITOR)
    for t in (0.0, 10.0):
        added.add(cycle(t, Mode.MONITOR, before=2, decided=3))
    assert added.report().saved == -0.5
    assert "50 % more" in str(added.report())


def test_active_mode_compares_what_was_taken_with_the_most_allowed() -> None:
    added = savings(Mode.ACTIVE)
    added.add(cycle(0.0, Mode.ACTIVE, before=4, decided=1))
    added.add(cycle(10.0, Mode.ACTIVE, before=1, decided=1))
    report = added.report()
    assert (report.core_seconds, report.most_core_seconds, report.changes) == (20, 100, 1)
    assert report.saved == 0.8
    assert "took 20 core-seconds where the most allowed is 100: 80 % less" in str(report)


def test_windows_that_missed_a_target_are_counted() -> None:
    added = savings(Mode.ACTIVE)
    for t, latency in ((0.0, 11_000.0), (10.0, 9_000.0)):
        added.add(cycle(t, Mode.ACTIVE, 1, 1, latency))
    assert added.report().violated == 0.5


def test_before_the_first_decision_there_is_nothing_to_report() -> None:
    report = savings(Mode.MONITOR).report(["the files source does not report its lag"])
    assert (report.saved, report.violated, report.seconds) == (None, None, 0)
    assert str(report).endswith("note: the files source does not report its lag")


def test_only_the_last_cycles_are_kept_but_all_are_counted() -> None:
    added = savings(Mode.MONITOR)
    for i in range(1001):
        added.add(cycle(float(i), Mode.MONITOR, 1, 1))
    assert len(added.report().cycles) == 100
    assert added.report().core_seconds == pytest.approx(2000)


def test_the_report_of_an_application_tells_of_each_query() -> None:
    total, one, two = (savings(Mode.ACTIVE) for _ in range(3))
    for t, added, decided in ((0.0, one, 3), (5.0, two, 3), (10.0, one, 2), (20.0, two, 2)):
        for each in (total, added):
            each.add(cycle(t, Mode.ACTIVE, before=3, decided=decided))
    report = total.report(
        ["a query is left out"], {"clicks": one.report(["its lag is not known"]), "views": two.report()}
    )
    assert report.core_seconds == 3 * 2 * 20  # the executors are those of the application
    assert report.changes == 2
    lines = str(report).splitlines()
    assert lines[0] == "watched for 20 s in active mode, 2 changes made"
    assert "note: a query is left out" in lines
    clicks, views = lines.index("clicks: 1 changes made"), lines.index("views: 1 changes made")
    assert any("decided: job 4; 2 executors" in line for line in lines[clicks:views])
    assert "  note: its lag is not known" in lines[clicks:views]
