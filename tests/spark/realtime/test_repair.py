from __future__ import annotations

from typing import Any, cast

import pytest

from penstock.spark.realtime.repair import FAILURES_IN_A_ROW, LACKING_PAUSE_SECONDS, SLOTS_SECONDS, Repair


class Query:
    last_batch = -1
    failure: str | None = "it is bad"


def repair_of(query: Query | None = None) -> Repair:
    return Repair(cast("Any", query or Query()))


def test_pauses_grow_with_failures_in_a_row_and_a_finished_batch_ends_the_row() -> None:
    query = Query()
    repair = repair_of(query)
    assert not repair.is_due(0.0)
    assert not repair.is_due(0.4)
    assert repair.is_due(0.5)
    assert not repair.is_due(1.0)  # down again
    assert not repair.is_due(1.9)
    assert repair.is_due(2.0)
    query.last_batch = 7
    assert not repair.is_due(3.0)
    assert repair.is_due(3.5)


def test_a_segment_that_only_fails_is_given_up() -> None:
    repair = repair_of()
    for failure in range(1, FAILURES_IN_A_ROW + 1):
        assert not repair.is_given_up
        paused = not repair.is_due(0.0)
        assert paused == (failure < FAILURES_IN_A_ROW)  # there is nothing to wait for when it is given up
        assert not paused or repair.is_due(1e9)
        assert repair.failures == failure
    assert repair.is_given_up


def test_a_segment_waits_for_the_slots_of_a_lost_executor_without_failing_but_not_for_ever() -> None:
    repair = repair_of()
    assert repair.waits_for_slots(0.0, enough=False)
    assert repair.waits_for_slots(SLOTS_SECONDS - 1, enough=False)
    assert not repair.lacks_slots_too_long(SLOTS_SECONDS - 1)
    assert not repair.waits_for_slots(SLOTS_SECONDS, enough=True)
    assert repair.waits_for_slots(SLOTS_SECONDS + 1, enough=False), "another one was lost"
    assert not repair.lacks_slots_too_long(SLOTS_SECONDS + 1)
    assert repair.lacks_slots_too_long(2 * SLOTS_SECONDS + 1)
    assert repair.failures == 0


@pytest.mark.parametrize(
    "failure",
    [
        "[CONCURRENT_SCHEDULER_INSUFFICIENT_SLOT] The minimum number of free slots required is 5, but 3 are available",
        "ExecutorLostFailure (executor 1 exited caused by one of the running tasks) Reason: Remote RPC client gone",
    ],
)
def test_a_start_for_which_slots_were_missing_is_made_again_for_minutes_and_never_counts_as_a_failure(
    failure: str,
) -> None:
    """The driver may count an executor for two minutes after its machine has gone: there seem to be enough slots."""
    query = Query()
    query.failure = failure
    repair = repair_of(query)
    t = 0.0
    while t < SLOTS_SECONDS - LACKING_PAUSE_SECONDS:
        assert not repair.waits_for_slots(t, enough=True)
        assert not repair.lacks_slots_too_long(t)
        assert not repair.is_due(t)
        t += LACKING_PAUSE_SECONDS
        assert repair.is_due(t)
    assert (repair.failures, repair.is_given_up) == (0, False)
    assert repair.lacks_slots_too_long(SLOTS_SECONDS)


def test_a_batch_that_ended_in_between_begins_the_wait_anew() -> None:
    query = Query()
    query.failure = "ExecutorLostFailure"
    repair = repair_of(query)
    repair.waits_for_slots(0.0, enough=True)
    assert not repair.is_due(0.0)
    query.last_batch = 3
    repair.waits_for_slots(SLOTS_SECONDS, enough=True)
    assert not repair.lacks_slots_too_long(SLOTS_SECONDS)


def test_a_long_wait_is_said_more_and_more_rarely() -> None:
    repair = repair_of()
    said = [t for t in range(0, 1800, 5) if repair.waits_for_slots(float(t), enough=False) and repair.is_said(float(t))]
    assert said == [0, 15, 60, 240, 960]
