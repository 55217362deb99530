"""The report of a running job, from its cycles and from what its executors cost."""

from __future__ import annotations

import pytest

from penstock import Slo
from penstock.model import Cycle, Decision, Latency, Mode, OperatorSample, Plan, Reason, ReasonCode, Sample
from penstock.spark.executors.core_seconds import ExecutorBill
from penstock.spark.report import Account

CORES_EACH = 2


class Paid:
    """What executors have cost so far, as the test says."""

    def __init__(self) -> None:
        self.core_seconds = 1_000.0  # before Penstock came

    def __call__(self, until: float) -> float:
        return self.core_seconds


def plan(executors: int) -> Plan:
    return Plan({"only": 2 * executors}, executors)


def cycle(t: float, mode: Mode, before: Plan, decided: Plan, latency_ms: float | None = None) -> Cycle:
    sample = Sample(
        t=t, seconds=10, operators={"only": OperatorSample(1)},
        event_latency_ms=None if latency_ms is None else Latency(mean=latency_ms),
    )  # fmt: skip
    decision = Decision(plan=decided, reason=Reason(ReasonCode.SCALE_DOWN, "it is idle"))
    return Cycle(t=t, mode=mode, before=before, decision=decision, samples=(sample,), applied=mode is Mode.ACTIVE)


def account(mode: Mode, paid: Paid | None) -> Account:
    bill = None if paid is None else ExecutorBill(paid, CORES_EACH, most=5)
    return Account(Slo(event_latency="10 s"), mode, lambda held: held.widest, bill)


def test_monitor_mode_compares_what_was_decided_with_what_was_taken() -> None:
    paid = Paid()
    added = account(Mode.MONITOR, paid)
    for t in (100.0, 110.0, 120.0):
        added.add(cycle(t, Mode.MONITOR, plan(4), plan(1)))
        paid.core_seconds += 80.0
    report = added.report()
    assert (report.taken, report.decided, report.seconds) == (160, 40, 20)
    assert report.saved == 0.75
    assert report.changes == 0
    assert "took 160 core-seconds, by Spark's executor events; what was decided would take 40: 75 % less" in str(report)
    assert "in force: only 8; 4 executors; decided: only 2; 1 executor, because it is idle" in str(report)


def test_a_job_that_is_too_small_would_take_more_and_the_report_says_so() -> None:
    paid = Paid()
    added = account(Mode.MONITOR, paid)
    for t in (0.0, 10.0):
        added.add(cycle(t, Mode.MONITOR, plan(2), plan(3)))
        paid.core_seconds += 40.0
    assert added.report().saved == -0.5
    assert "50 % more" in str(added.report())


def test_executors_that_take_their_time_to_leave_are_paid_for() -> None:
    """The plan has one executor at the second cycle, but Spark's events say that four were there until then."""
    paid = Paid()
    added = account(Mode.ACTIVE, paid)
    added.add(cycle(0.0, Mode.ACTIVE, plan(4), plan(1)))
    paid.core_seconds += 80.0
    added.add(cycle(10.0, Mode.ACTIVE, plan(1), plan(1)))
    report = added.report()
    assert (report.taken, report.most, report.changes) == (80, 100, 1)
    assert report.saved == pytest.approx(0.2)
    assert "took 80 core-seconds" in str(report)
    assert "the 5 executors that it may have, for the whole time, 100: 20 % less" in str(report)


def test_without_executors_the_cost_is_nominal_and_in_slots() -> None:
    added = account(Mode.ACTIVE, None)
    for t in (0.0, 10.0):
        added.add(cycle(t, Mode.ACTIVE, Plan({"only": 3}), Plan({"only": 3})))
    report = added.report()
    assert (report.unit, report.taken, report.saved) == ("slot", 30.0, None)
    assert "the plans held 30 slot-seconds (nominal: no executor is given back)" in str(report)
    assert "core" not in str(report)


def test_a_change_of_mode_begins_the_report_anew() -> None:
    paid = Paid()
    added = account(Mode.MONITOR, paid)
    for t in (0.0, 10.0):
        added.add(cycle(t, Mode.MONITOR, plan(4), plan(1)))
        paid.core_seconds += 80.0
    for t in (20.0, 30.0):
        added.add(cycle(t, Mode.ACTIVE, plan(1), plan(1)))
        paid.core_seconds += 20.0
    report = added.report()
    assert (report.mode, report.seconds, report.taken) == (Mode.ACTIVE, 10.0, 20.0)


def test_the_time_outside_the_target_is_that_of_the_measured_windows() -> None:
    added = account(Mode.ACTIVE, None)
    for t, latency in ((0.0, 11_000.0), (10.0, 9_000.0)):
        added.add(cycle(t, Mode.ACTIVE, plan(1), plan(1), latency))
    assert added.report().violated == 0.5
    assert "50.0 % of the measured time was outside the target" in str(added.report())


def test_before_the_first_decision_there_is_nothing_to_report() -> None:
    report = account(Mode.MONITOR, Paid()).report(["the files source does not report its lag"])
    assert (report.saved, report.violated, report.seconds) == (None, None, 0)
    assert str(report).endswith("note: the files source does not report its lag")


def test_duplicates_are_told_where_they_are_counted() -> None:
    added = account(Mode.ACTIVE, None)
    added.add(cycle(0.0, Mode.ACTIVE, plan(1), plan(1)))
    assert "98 records came twice" in str(added.report(duplicates=98))
    assert "twice" not in str(added.report())


def test_only_the_last_cycles_are_kept_but_all_are_counted() -> None:
    added = account(Mode.MONITOR, None)
    for i in range(1001):
        added.add(cycle(float(i), Mode.MONITOR, plan(1), plan(1)))
    assert len(added.report().cycles) == 100
    assert added.report().taken == pytest.approx(2000)


def test_a_cycle_without_a_new_window_leaves_what_was_decided_as_it_is() -> None:
    paid = Paid()
    added = account(Mode.MONITOR, paid)
    nothing_new = Decision.hold(plan(4), ReasonCode.NO_NEW_WINDOW, "no window has ended since the last decision")
    added.add(cycle(0.0, Mode.MONITOR, plan(4), plan(1)))
    for t in (10.0, 20.0):
        added.add(Cycle(t=t, mode=Mode.MONITOR, before=plan(4), decision=nothing_new))
    report = added.report()
    assert report.decided == 20 * CORES_EACH
    assert "decided: only 2; 1 executor, because it is idle" in str(report)
