"""What an actuator requires and gives back. What a real cluster does is in test_attach.py."""

from __future__ import annotations

from typing import Any, cast

import pytest

from penstock.control.clock import WallClock
from penstock.spark.executors.actuator import ExecutorActuator
from penstock.spark.executors.slots import NotEnoughSlotsError
from penstock.spark.executors.whole_executors import WholeExecutors

TWO_EACH = WholeExecutors(2)


class Cluster:
    """Gives up to `most` executors."""

    def __init__(self, there: int, most: int) -> None:
        self.there = there
        self.most = most
        self.requested: int | None = None
        self.calls: list[tuple[str, int]] = []

    def executors(self) -> int:
        return self.there

    def require(self, slots: int) -> None:
        self.calls.append(("require", slots))
        self.there = self.requested = min(self.most, slots // 2)
        if self.there < slots // 2:
            raise NotEnoughSlotsError(slots, 2 * self.there)

    def give_back(self, slots: int) -> None:
        self.calls.append(("give_back", slots))
        self.there = self.requested = slots // 2


def actuator(cluster: Cluster) -> ExecutorActuator:
    return ExecutorActuator(cast("Any", cluster), TWO_EACH, WallClock())


def test_a_plan_with_more_executors_requires_them_and_one_with_fewer_gives_them_back() -> None:
    cluster = Cluster(there=2, most=5)
    under_test = actuator(cluster)
    for executors in (4, 1, 1):
        before = under_test.settled_at
        under_test.apply(TWO_EACH.plan(executors))
        assert under_test.plan() == TWO_EACH.plan(executors)
        assert under_test.settled_at > before
    assert cluster.calls == [("require", 8), ("give_back", 2), ("give_back", 2)]


def test_what_came_is_the_plan_when_the_cluster_has_no_more() -> None:
    under_test = actuator(Cluster(there=1, most=2))
    with pytest.raises(NotEnoughSlotsError):
        under_test.apply(TWO_EACH.plan(4))
    assert under_test.plan() == TWO_EACH.plan(2)
    assert under_test.settled_at > 0


def test_a_lost_executor_is_no_change_of_plan() -> None:
    cluster = Cluster(there=1, most=5)
    under_test = actuator(cluster)
    under_test.apply(TWO_EACH.plan(3))
    cluster.there = 2
    assert under_test.plan() == TWO_EACH.plan(3)
