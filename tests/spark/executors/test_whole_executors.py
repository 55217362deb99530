from __future__ import annotations

import pytest

from penstock import Slo
from penstock.guards import chain
from penstock.model import Decision, Observation, Plan, ReasonCode
from penstock.spark.executors.shared_slots import Share
from penstock.spark.executors.whole_executors import NEEDED, WholeExecutors
from penstock.spark.measure.query_monitor import JOB

FOUR_SLOTS_EACH = Share(slots_each=4, least=1, most=5)


def vetted(slots: int, executors_now: int = 2, share: Share = FOUR_SLOTS_EACH) -> Decision:
    now = share.plan(executors_now)
    observation = Observation(t=0.0, topology=share.topology, slo=Slo(), plan=now, samples=())
    return WholeExecutors(lambda: share).vet(Decision.move(now, now.changed({JOB: slots}), "it must be"), observation)


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


def test_the_application_has_its_fewest_and_most_executors() -> None:
    share = Share(slots_each=4, least=2, most=3)
    assert [vetted(slots, share=share).plan.executors for slots in (1, 9, 12)] == [2, 3, 3]
    assert share.topology[JOB].max == 12


def test_other_queries_need_some_of_the_executors() -> None:
    share = Share(slots_each=4, least=1, most=5, others=6)
    decision = vetted(3, executors_now=4, share=share)
    assert decision.plan == Plan({JOB: 6}, 3)  # twelve slots, six of them for the others
    assert decision.figures[NEEDED] == 3
    [verdict] = decision.verdicts
    assert verdict.reason.text == "executors have 4 slots each: 3 slots and 6 of other queries are 3 of them"
    crowded = Share(slots_each=4, least=1, most=5, others=20)
    assert vetted(3, share=crowded).plan == Plan({JOB: 1}, 5)


def test_nothing_shrinks_while_it_is_not_known_what_another_query_needs() -> None:
    decision = vetted(1, executors_now=3, share=Share(slots_each=4, least=1, most=5, kept=3))
    assert decision.plan.executors == 3
    assert "not known what another query needs" in decision.verdicts[0].reason.text


def test_it_rounds_before_the_guards_that_only_hold() -> None:
    names = [guard.name for guard in chain(rounding=WholeExecutors(lambda: FOUR_SLOTS_EACH))]
    assert names[-3:] == ["whole_executors", "stabilisation", "calendar"]
