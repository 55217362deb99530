"""Whatever goes wrong around the loop, or inside of it, is a hold with its reason, and the loop goes on."""

import logging
from typing import Any

import pytest

from loop_fakes import LARGE, SMALL, BrokenStore, Hangs, Job, Ticks, Wants, a_loop, code, sample
from penstock.control.loop import Loop, Settings
from penstock.model import (
    Mode,
    Plan,
    ReasonCode,
)

# A policy that cannot be trusted -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (ValueError("no idea"), "wants failed: ValueError: no idea"),
        ("more!", "wants failed: it answered 'more!' instead of a Decision"),
        (None, "wants failed: it answered None instead of a Decision"),
        (Plan({"splt": 2}), "wants failed: plan: operator 'splt' is not known; did you mean 'split'?"),
    ],
)
def test_a_policy_that_fails_is_a_hold_and_the_loop_goes_on(answer: Any, text: str) -> None:
    policy = Wants(answer)
    loop = a_loop(policy=policy)
    cycle = loop.run_once()
    assert code(cycle) is ReasonCode.POLICY_FAILED
    assert cycle.decision.reason.text.startswith(text)
    assert cycle.decision.plan == SMALL
    assert cycle.decision.policy == "wants"
    policy.answer = LARGE
    assert loop.run_once().changed


def test_a_policy_that_hangs_is_a_hold_until_it_answers() -> None:
    policy = Hangs()
    loop = a_loop(policy=policy, settings=Settings(interval_seconds=10, policy_limit_seconds=0.01))
    try:
        first, second = loop.run_once(), loop.run_once()
    finally:
        policy.release.set()
    assert [code(first), code(second)] == [ReasonCode.POLICY_TOO_SLOW] * 2
    assert first.decision.reason.text == "hangs was too slow: no answer within 0.01 s"
    assert second.decision.reason.text == "hangs was too slow: an earlier call is still running"
    assert loop.actuator.plan() == SMALL
    assert loop.store.state("hangs") is None  # what it knows is not copied while it is still at work
    _wait_for(loop)
    assert loop.run_once().changed
    assert policy.learnt == [0, 10, 20]  # the sample that came while it hung is not lost
    assert loop.store.state("hangs") == {"learnt": [0, 10, 20]}


def _wait_for(loop: Loop) -> None:
    """Until the call left behind has ended; from then on there is time enough."""
    assert loop._deadline._left_behind is not None
    loop._deadline._left_behind.join()
    loop._deadline.seconds = 60


# Metrics that cannot be trusted ------------------------------------------------------------------------------


def test_without_metrics_nothing_is_scaled() -> None:
    loop = a_loop(readings=[[]])
    assert code(loop.run_once()) is ReasonCode.MISSING_METRICS
    assert loop.actuator.plan() == SMALL


def test_stale_metrics_scale_nothing() -> None:
    loop = a_loop(readings=[[sample(0)]], actuator=Job(), mode=Mode.MONITOR)
    # The window ended at 10; each cycle is ten seconds later, and three intervals are too old.
    codes = [code(loop.run_once()) for _ in range(5)]
    assert codes == [ReasonCode.SCALE_UP, *[ReasonCode.NO_NEW_WINDOW] * 3, ReasonCode.STALE_METRICS]
    assert loop.run_once().decision.reason.text == "the newest measurement is 50 s old"


def test_a_window_is_not_stale_before_the_next_ones_could_have_ended() -> None:
    clock = Ticks()
    loop = a_loop(readings=[[sample(0)]], settings=Settings(interval_seconds=1, policy_limit_seconds=None), clock=clock)
    codes = [code(loop.run_once()) for _ in range(5)]  # its ten seconds are longer than three intervals
    # By this clock the change takes ten seconds, and the next window cannot begin before they are over.
    assert codes == [ReasonCode.SCALE_UP, *[ReasonCode.NO_NEW_WINDOW] * 3, ReasonCode.STALE_METRICS]


def test_warm_up_windows_are_left_out() -> None:
    policy = Wants()
    loop = a_loop(readings=[[sample(0, warm_up=True)], [sample(10, warm_up=True), sample(20)]], policy=policy)
    first = loop.run_once()
    assert code(first) is ReasonCode.WARMING_UP
    assert first.samples == (sample(0, warm_up=True),)  # recorded, though it does not count
    loop.run_once()
    assert [s.t for s in policy.seen[0].samples] == [20]


def test_a_job_that_warms_up_is_not_one_that_cannot_be_seen() -> None:
    """A change may wait long for executors: what counts was measured before it, and is old."""
    readings = [[sample(0)], [], [], [], [], [sample(50, warm_up=True)], [], [], [], []]
    loop = a_loop(readings=readings, mode=Mode.MONITOR)
    codes = [code(loop.run_once()) for _ in readings]
    assert codes[4:] == [ReasonCode.STALE_METRICS, *[ReasonCode.WARMING_UP] * 4, ReasonCode.STALE_METRICS]


@pytest.mark.parametrize("reading", [OSError("connection reset"), None, ["twelve"]])
def test_a_monitor_that_fails_is_a_hold_and_the_loop_goes_on(reading: Any) -> None:
    loop = a_loop(readings=[reading, [sample(10)]])
    cycle = loop.run_once()
    assert code(cycle) is ReasonCode.MONITOR_FAILED
    assert cycle.decision.reason.text.startswith("the metrics could not be read: ")
    assert cycle.samples == ()
    assert loop.run_once().changed


# A cluster that cannot be reached ----------------------------------------------------------------------------


def test_a_change_that_cannot_be_made_keeps_the_old_plan_and_records_the_problem() -> None:
    job = Job(stuck=True)
    loop = a_loop(actuator=job)
    cycle = loop.run_once()
    assert not cycle.applied
    assert not cycle.changed
    assert cycle.problem == "the change could not be made: ConnectionError: no route to the driver"
    assert job.in_force == SMALL
    job.stuck = False
    assert loop.run_once().changed


def test_a_plan_that_cannot_be_read_is_a_hold_on_the_last_one_known() -> None:
    job = Job()
    loop = a_loop(actuator=job)
    loop.run_once()
    job.blind = True
    cycle = loop.run_once()
    assert code(cycle) is ReasonCode.MONITOR_FAILED
    assert cycle.before == cycle.decision.plan == LARGE
    assert "ConnectionError: no route to the driver" in cycle.decision.reason.text
    job.blind = False
    assert code(loop.run_once()) is ReasonCode.STEADY


# A store that cannot be reached ------------------------------------------------------------------------------


def test_a_lost_store_is_told_once_and_the_loop_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    store = BrokenStore()
    loop = a_loop(store=store)
    with caplog.at_level(logging.WARNING, "penstock"):
        assert loop.run_once().changed
        loop.run_once()
        assert [r.getMessage() for r in caplog.records] == [
            "the store is lost, the loop goes on without it: OSError: disk is full"
        ]
        store.broken = False
        third = loop.run_once()
        assert list(store.recent(10)) == [third]
        store.broken = True
        loop.run_once()
        assert len(caplog.records) == 2  # lost anew is news again


def test_a_loop_whose_store_is_broken_starts_afresh(caplog: pytest.LogCaptureFixture) -> None:
    loop = a_loop(store=BrokenStore())
    assert loop.resume() is None
    assert "the store cannot be read, the loop starts afresh: OSError: disk is full" in caplog.text
    assert loop.run_once().changed
