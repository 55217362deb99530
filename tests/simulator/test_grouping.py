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
from penstock.simulator.concurrent import _route
from penstock.simulator.job import Behaviour, Engine, Grouping, Job, Overflow

queues = st.lists(st.integers(0, 40), min_size=1, max_size=7)


@given(queue=queues, count=st.integers(1, 120), turn=st.integers(0, 6))
def test_balanced_records_go_where_algorithm_1_sends_them(queue: list[int], count: int, turn: int) -> None:
    step = 1e-4  # one record adds so little that nobody is ever full
    sent, _ = send_each(np.array(queue) * step, step, count)
    routed = np.array(queue, dtype=np.int64)
    _route(routed, count, BALANCED, np.ones(len(queue)), turn % len(queue))
    assert sorted(routed.tolist()) == sorted((np.array(queue) + sent).tolist())


@given(queue=queues, count=st.integers(1, 120), turn=st.integers(0, 6))
def test_shuffled_records_go_round_whoever_is_behind(queue: list[int], count: int, turn: int) -> None:
    routed = np.array(queue, dtype=np.int64)
    _route(routed, count, SHUFFLE, np.ones(len(queue)), turn % len(queue))
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
