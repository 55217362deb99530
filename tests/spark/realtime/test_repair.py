from __future__ import annotations

from typing import Any, cast

from penstock.spark.realtime.repair import FAILURES_IN_A_ROW, SLOTS_SECONDS, Repair


class Query:
    last_batch = -1


def test_pauses_grow_with_failures_in_a_row_and_a_finished_batch_ends_the_row() -> None:
    query = Query()
    repair = Repair(cast("Any", query))
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
    repair = Repair(cast("Any", Query()))
    for failure in range(1, FAILURES_IN_A_ROW + 1):
        assert not repair.is_given_up
        paused = not repair.is_due(0.0)
        assert paused == (failure < FAILURES_IN_A_ROW)  # there is nothing to wait for when it is given up
        assert not paused or repair.is_due(1e9)
        assert repair.failures == failure
    assert repair.is_given_up


def test_a_segment_waits_for_the_slots_of_a_lost_executor_without_failing_but_not_for_ever() -> None:
    repair = Repair(cast("Any", Query()))
    assert repair.waits_for_slots(0.0, enough=False)
    assert repair.waits_for_slots(SLOTS_SECONDS - 1, enough=False)
    assert not repair.waits_for_slots(SLOTS_SECONDS, enough=True)
    assert repair.waits_for_slots(SLOTS_SECONDS + 1, enough=False), "another one was lost"
    assert not repair.waits_for_slots(2 * SLOTS_SECONDS + 1, enough=False)
    assert repair.failures == 0
