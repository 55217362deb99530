"""A new plan costs nothing, some downtime, or some downtime and all that was queued."""

from __future__ import annotations

import pytest

from penstock.load.curves import constant
from penstock.model import Plan, Slo, Topology
from penstock.simulator.cluster import SimulatedCluster
from penstock.simulator.job import Behaviour, Change, Engine, Job, Overflow

QUEUED = 6000  # 120 s at 50 records/s more than one instance does


def grown(change: Change) -> SimulatedCluster:
    """A job falls behind for two minutes, then gets two more instances, and has ten minutes to recover."""
    engine = Engine(overflow=Overflow.DROP, change=change, downtime_seconds=20.0, queue_records=10**6)
    job = Job("one", Topology.chain("work"), {"work": Behaviour(service_ms=10.0)}, engine)
    cluster = SimulatedCluster(job, constant(150.0, 720.0), Slo(), measure_seconds=10.0)
    cluster.advance(120.0)
    assert int(cluster.state.queue.sum()) == QUEUED
    cluster.apply(Plan({"work": 3}))
    cluster.advance(600.0)
    return cluster


def test_a_live_change_takes_effect_at_once_and_keeps_the_queue() -> None:
    cluster = grown(Change.LIVE)
    samples = cluster.read()
    # The two that join take all that arrives; the one that is behind works off its own queue.
    assert [s.throughput for s in samples[11:13]] == pytest.approx([100.0, 150.0 + 100.0])
    assert not any(s.warm_up for s in samples)
    assert cluster.total.dropped.sum() == 0


def test_a_restart_stands_still_for_its_downtime_and_then_catches_up() -> None:
    cluster = grown(Change.RESTART)
    samples = cluster.read()
    assert [s.throughput for s in samples[12:15]] == pytest.approx([0.0, 0.0, 300.0])
    assert [s.warm_up for s in samples[11:16]] == [False, True, True, False, False]
    assert cluster.total.dropped.sum() == 0
    assert int(cluster.total.left[0]) == int(cluster.total.offered.sum())


def test_a_lossy_restart_loses_what_was_queued() -> None:
    cluster = grown(Change.LOSSY_RESTART)
    assert int(cluster.total.dropped.sum()) == QUEUED
    assert int(cluster.total.left[0]) == int(cluster.total.offered.sum()) - QUEUED


def test_the_same_plan_again_is_no_change() -> None:
    cluster = grown(Change.RESTART)
    assert cluster.rescales == 1
    cluster.apply(Plan({"work": 3}))
    assert cluster.rescales == 1
