"""What an actuator requires and gives back. What a real cluster does is in test_attach.py."""

from __future__ import annotations

from typing import Any, cast

import pytest

from penstock.control.clock import WallClock
from penstock.spark.executors.actuator import ExecutorActuator
from penstock.spark.executors.bounds import Bounds
from penstock.spark.executors.shared_slots import Share, SharedSlots
from penstock.spark.executors.slots import NotEnoughSlotsError

TWO_EACH = Share(slots_each=2, least=1, most=5)


class Cluster:
    """Gives up to `most` executors."""

    slots_each = 2

    def __init__(self, there: int, most: int) -> None:
        self.there = there
        self.most = most
        self.requested: int | None = None
        self.calls: list[tuple[str, int]] = []

    def executors(self) -> int:
        return self.there

    def require(self, slots: int, ahead: int = 0) -> None:
        self.calls.append(("require", slots))
        self.there = self.requested = min(self.most, slots // 2)
        if self.there < slots // 2:
            raise NotEnoughSlotsError(slots, 2 * self.there)

    def give_back(self, slots: int) -> None:
        self.calls.append(("give_back", slots))
        self.there = self.requested = slots // 2


def shared(cluster: Cluster) -> SharedSlots:
    made = SharedSlots(cast("Any", cluster), Bounds(1, 5))
    made.join("alone")
    return made


def actuator(slots: SharedSlots, run: str = "alone") -> ExecutorActuator:
    return ExecutorActuator(slots, run, WallClock())


def test_a_plan_with_more_executors_requires_them_and_one_with_fewer_gives_them_back() -> None:
    cluster = Cluster(there=2, most=5)
    slots = shared(cluster)
    under_test = actuator(slots)
    for executors in (4, 1, 1):
        before = slots.settled_at
        under_test.apply(TWO_EACH.plan(executors))
        assert under_test.plan() == TWO_EACH.plan(executors)
        assert slots.settled_at > before
    assert cluster.calls == [("require", 8), ("give_back", 2), ("give_back", 2)]


def test_what_came_is_the_plan_when_the_cluster_has_no_more() -> None:
    slots = shared(Cluster(there=1, most=2))
    under_test = actuator(slots)
    with pytest.raises(NotEnoughSlotsError):
        under_test.apply(TWO_EACH.plan(4))
    assert under_test.plan() == TWO_EACH.plan(2)
    assert slots.settled_at > 0


def test_a_lost_executor_is_no_change_of_plan() -> None:
    cluster = Cluster(there=1, most=5)
    under_test = actuator(shared(cluster))
    under_test.apply(TWO_EACH.plan(3))
    cluster.there = 2
    assert under_test.plan() == TWO_EACH.plan(3)


def test_the_application_has_executors_for_the_sum_of_what_its_queries_need() -> None:
    slots = shared(Cluster(there=5, most=5))
    slots.join("other")
    slots.need("alone", 3)
    slots.need("other", 4)
    assert slots.share("alone").executors(3) == 4  # seven slots, two in each
    assert slots.share("other").executors(1) == 2
    actuator(slots).apply(slots.share("alone").plan(4))
    assert str(actuator(slots).plan()) == "job 4; 4 executors"  # what the other one leaves
    assert str(actuator(slots, "other").plan()) == "job 5; 4 executors"


def test_nothing_shrinks_while_it_is_not_known_what_a_query_needs() -> None:
    slots = shared(Cluster(there=4, most=5))
    slots.join("new")
    assert slots.share("alone").executors(1) == 4
    assert slots.share("alone").executors(10) == 5  # growing is another matter
    slots.need("new", 1)
    assert slots.share("alone").executors(1) == 1


def test_a_query_that_has_ended_needs_nothing() -> None:
    slots = shared(Cluster(there=4, most=5))
    slots.join("ends")
    slots.need("ends", 6)
    assert slots.share("alone").executors(1) == 4
    slots.leave("ends")
    slots.need("ends", 6)  # a last word of its loop
    assert slots.share("alone").executors(1) == 1
