"""What a person reads in the log of a driver."""

from __future__ import annotations

import pytest

from penstock.control.cycle_log import CycleLog
from penstock.model import Cycle, Decision, Mode, Plan, Reason, ReasonCode

ONE, THREE = Plan({"job": 1}, 1), Plan({"job": 3}, 3)


def cycle(
    before: Plan = ONE,
    after: Plan = ONE,
    code: ReasonCode = ReasonCode.STEADY,
    text: str = "it is right",
    mode: Mode = Mode.ACTIVE,
) -> Cycle:
    decision = Decision(plan=after, reason=Reason(code, text))
    return Cycle(t=0.0, mode=mode, before=before, decision=decision, applied=mode is Mode.ACTIVE)


def written(caplog: pytest.LogCaptureFixture, *cycles: Cycle) -> list[tuple[str, str]]:
    caplog.set_level("INFO", "penstock")
    log = CycleLog("clicks")
    for each in cycles:
        log(each)
    return [(record.levelname, record.message) for record in caplog.records]


def test_a_change_is_one_line_and_a_hold_is_none(caplog: pytest.LogCaptureFixture) -> None:
    grows = cycle(ONE, THREE, ReasonCode.SCALE_UP, "it is busy")
    assert written(caplog, cycle(), grows, cycle(THREE, THREE)) == [
        ("INFO", "clicks: job 1; 1 executor -> job 3; 3 executors, because it is busy")
    ]


def test_being_blind_is_said_when_it_begins_and_when_it_ends(caplog: pytest.LogCaptureFixture) -> None:
    failed = cycle(code=ReasonCode.MONITOR_FAILED, text="the metrics could not be read: no")
    stale = cycle(code=ReasonCode.STALE_METRICS, text="the newest measurement is 90 s old")
    assert written(caplog, cycle(), failed, failed, stale, cycle(), cycle()) == [
        ("WARNING", "clicks: cannot see, and leaves the job as it is: the metrics could not be read: no"),
        ("INFO", "clicks: sees again"),
    ]


def test_what_monitor_mode_would_change_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    would = cycle(THREE, ONE, ReasonCode.SCALE_DOWN, "it is idle", Mode.MONITOR)
    same = cycle(THREE, THREE, mode=Mode.MONITOR)
    assert (
        written(caplog, would, would, same, would)
        == [("INFO", "clicks: would change job 3; 3 executors -> job 1; 1 executor, because it is idle")] * 2
    )
