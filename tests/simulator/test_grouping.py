"""Which instance gets the next record, and what that means when one has just joined."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.load.curves import constant
from penstock.model import Plan, Slo, Topology
from penstock.performance.grouping import send_each
from penstock.simulator.arrays import BALANCED, SHUFFLE
from penstock.simulator.cluster import SimulatedCluster
from penstock.simulator.job import Behaviour, Engine, Grouping, Job, Overflow
from penstock.simulator.routing import balance, route

queues = st.lists(st.integers(0, 40), min_size=1, max_size=7)


@given(queue=queues, count=st.integers(1, 120), turn=st.integers(0, 6))
def test_balanced_records_go_to_the_shortest_queues(queue: list[int], count: int, turn: int) -> None:
    one_by_one = list(queue)
    for _ in range(count):
        one_by_one[one_by_one.index(min(one_by_one))] += 1
    routed = np.array(queue, dtype=np.int64)
    route(routed, count, BALANCED, np.ones(len(queue)), turn % len(queue))
    assert sorted(routed.tolist()) == sorted(one_by_one)


@given(
    given_before=queues, count=st.integers(1, 200), full=st.integers(1, 60), turn=st.integers(0, 6), data=st.data()
)  # fmt: skip
def test_records_grouped_by_utilisation_go_where_algorithm_1_sends_them(
    given_before: list[int], count: int, full: int, turn: int, data: st.DataObject
) -> None:
    """Event by event, and all records of a step together: as many replicas get as many, however long their queues."""
    k = len(given_before)
    utilised = np.minimum(given_before, full).astype(np.int64)
    waiting = np.array(data.draw(st.lists(st.integers(0, 99), min_size=k, max_size=k)), dtype=np.int64)
    sent, _ = send_each(utilised / full, 1.0 / full, count, turn % k)
    queue, given_then = waiting.copy(), utilised.copy()
    balance(queue, given_then, count, full, turn % k)
    assert queue.sum() == waiting.sum() + count
    room = int((full - utilised).sum())
    assert given_then.sum() == utilised.sum() + min(count, room)
    assert sorted((queue - waiting + utilised).tolist()) == pytest.approx(sorted((sent + utilised).tolist()), abs=1)


def test_utilisation_is_counted_anew_in_every_interval() -> None:
    """One instance is 3,000 records behind and fully utilised; another joins, and gets all that comes for an interval,
    also what it cannot do; then both are full and take turns, as Algorithm 1 says."""
    behaviour = Behaviour(service_ms=10.0, grouping=Grouping.UTILISATION)
    engine = Engine(overflow=Overflow.DROP, queue_records=10**6, grouping_seconds=30.0)
    cluster = SimulatedCluster(Job("one", Topology.chain("a"), {"a": behaviour}, engine), constant(150.0, 240.0), Slo())
    cluster.advance(60.0)
    assert cluster.state.queue[0, 0] == 3000
    cluster.apply(Plan({"a": 2}))
    cluster.advance(20.0)
    old, new = cluster.state.queue[0, :2].tolist()
    assert old == 3000 - 20 * 100
    assert new == 20 * 50  # 3,000 in 20 s fill it for the interval
    cluster.advance(10.0)
    assert cluster.state.queue[0, :2].tolist() == [old - 10 * 25, new - 10 * 25]  # and now they take turns


@given(queue=queues, count=st.integers(1, 120), turn=st.integers(0, 6))
def test_shuffled_records_go_round_whoever_is_behind(queue: list[int], count: int, turn: int) -> None:
    routed = np.array(queue, dtype=np.int64)
    route(routed, count, SHUFFLE, np.ones(len(queue)), turn % len(queue))
    received = routed - np.array(queue)
    assert received.sum() == count
    assert received.max() - received.min() <= 1


def worst_queue_after_growing(grouping: Grouping) -> int:
    """One instance is 3,000 records behind; another joins; ten seconds later."""
    behaviour = Behaviour(service_ms=10.0, grouping=grouping)
    engine = Engine(overflow=Overflow.DROP, queue_records=10**6)
    cluster = SimulatedCluster(Job("one", Topology.chain("a"), {"a": behaviour}, engine), constant(150.0, 130.0), Slo())
    cluster.advance(60.0)
    assert cluster.state.queue[0, 0] == 3000
    cluster.apply(Plan({"a": 2}))
    assert cluster.state.queue[0, :2].tolist() == [3000, 0]  # a live change moves no queue
    cluster.advance(10.0)
    return int(cluster.state.queue[0].max())


def test_a_new_instance_relieves_the_one_that_is_behind_only_if_load_is_balanced() -> None:
    assert worst_queue_after_growing(Grouping.BALANCED) == pytest.approx(3000 - 10 * 100, abs=2)
    assert worst_queue_after_growing(Grouping.SHUFFLE) == pytest.approx(3000 - 10 * 25, abs=2)
