from __future__ import annotations

import pytest

from penstock import Slo
from penstock.guards import chain
from penstock.model import Decision, Observation, Plan, ReasonCode
from penstock.spark.executors.whole_executors import WholeExecutors
from penstock.spark.measure.query_monitor import JOB

FOUR_SLOTS_EACH = WholeExecutors(4)


def vetted(slots: int, executors_now: int = 2) -> Decision:
    now = FOUR_SLOTS_EACH.plan(executors_now)
    observation = Observation(
        t=0.0, topology=FOUR_SLOTS_EACH.topology(1, 5), slo=Slo(), plan=now, samples=()
    )  # fmt: skip
    return FOUR_SLOTS_EACH.vet(Decision.move(now, now.changed({JOB: slots}), "it must be"), observation)


@pytest.mark.parametrize(("slots", "executors"), [(1, 1), (4, 1), (5, 2), (8, 2), (9, 3), (20, 5)])
def test_slots_become_the_executors_that_have_them(slots: int, executors: int) -> None:
    assert vetted(slots).plan == Plan({JOB: 4 * executors}, executors)


def test_rounding_is_said() -> None:
    [verdict] = vetted(9).verdicts
    assert verdict.reason.code is ReasonCode.BOUNDS
    assert verdict.reason.text == "executors have 4 slots each: 9 slots are 3 of them"
    assert vetted(8).verdicts == ()


def test_a_need_for_part_of_an_executor_is_no_change() -> None:
    assert vetted(7, executors_now=2).plan == FOUR_SLOTS_EACH.plan(2)


def test_the_job_moves_between_its_fewest_and_most_executors() -> None:
    job = FOUR_SLOTS_EACH.topology(2, 5)[JOB]
    assert (job.min, job.max) == (8, 20)


def test_it_rounds_before_the_guards_that_only_hold() -> None:
    names = [guard.name for guard in chain(rounding=FOUR_SLOTS_EACH)]
    assert names[-3:] == ["whole_executors", "stabilisation", "calendar"]
