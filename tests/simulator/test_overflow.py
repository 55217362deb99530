"""Three engines, three ways to be overloaded."""

from __future__ import annotations

import pytest

from penstock.load.curves import constant, steps
from penstock.model import Latency, Plan, Sample, Slo, Topology
from penstock.simulator.cluster import SimulatedCluster
from penstock.simulator.job import Behaviour, Engine, Job, Overflow

CHAIN = Topology.chain("read", "work", "write")
# read does 1000 records/s, work 100, write 1000: work is the bottleneck by far.
SPEEDS = {"read": Behaviour(service_ms=1.0), "work": Behaviour(service_ms=10.0), "write": Behaviour(service_ms=1.0)}


def overloaded(engine: Engine, seconds: float = 300.0, rate: float = 150.0) -> tuple[SimulatedCluster, Sample]:
    cluster = SimulatedCluster(Job("chain", CHAIN, SPEEDS, engine), constant(rate, seconds), Slo())
    cluster.advance(seconds)
    return cluster, cluster.read()[-1]


def queue(sample: Sample, name: str) -> float:
    waiting = sample.operators[name].queue
    assert waiting is not None
    return waiting


def mean(latency: Latency | None) -> float:
    assert latency is not None
    assert latency.mean is not None
    return latency.mean


def test_bounded_buffers_push_the_waiting_back_to_the_source() -> None:
    cluster, sample = overloaded(Engine(overflow=Overflow.BACK_PRESSURE, queue_records=200))
    # Both operators up to the bottleneck have full buffers, the one behind it an empty one.
    assert 190 <= queue(sample, "read") <= 210
    assert 190 <= queue(sample, "work") <= 210
    assert queue(sample, "write") == 0
    # The rest waits outside, where it makes event latency, not processing latency.
    assert sample.backlog == pytest.approx(300 * 50 - 400, rel=0.02)
    assert sample.throughput == pytest.approx(100.0, rel=0.01)
    assert mean(sample.processing_latency_ms) == pytest.approx(4000, rel=0.1)  # 400 records at 100 a second
    assert mean(sample.event_latency_ms) > 80_000
    assert cluster.total.dropped.sum() == 0


def test_a_blocked_operator_does_not_look_busy() -> None:
    _, sample = overloaded(Engine(overflow=Overflow.BACK_PRESSURE, queue_records=200))
    busy = {name: operator.useful_seconds for name, operator in sample.operators.items()}
    assert busy["work"] == pytest.approx(60.0)
    assert busy["read"] == pytest.approx(6.0, rel=0.02)  # 100 records of 1 ms each second, whatever it could do
    assert busy["write"] == pytest.approx(6.0, rel=0.02)


def test_unbounded_queues_grow_until_records_time_out_and_come_again() -> None:
    engine = Engine(overflow=Overflow.REPLAY, timeout_seconds=30.0)
    cluster, sample = overloaded(engine)
    assert sample.backlog == 0  # the source holds nothing back
    assert queue(sample, "work") == pytest.approx(30.0 * 100, rel=0.05)  # as much as can be done in time
    assert cluster.total.dropped.sum() == cluster.total.replayed[0] + cluster.state.unacknowledged.sum() > 0
    # What is sent again comes on top: a job that is too small never catches up by itself.
    read = sample.operators["read"].records_in
    assert read is not None
    assert read / 60.0 > 190.0


def test_a_job_that_times_out_recovers_once_the_load_is_gone() -> None:
    job = Job("chain", CHAIN, SPEEDS, Engine(overflow=Overflow.REPLAY, timeout_seconds=30.0))
    cluster = SimulatedCluster(job, steps((150.0, 10.0), 300.0), Slo())
    cluster.advance(600.0)
    assert queue(cluster.read()[-1], "work") <= 1
    assert cluster.state.unacknowledged.sum() == 0
    assert int(cluster.total.left[0]) == int(cluster.total.offered.sum())  # late, but every one of them


def test_bounded_queues_drop_what_does_not_fit() -> None:
    cluster, sample = overloaded(Engine(overflow=Overflow.DROP, queue_records=500))
    assert queue(sample, "work") == 500
    assert sample.backlog == 0
    assert sample.dropped == pytest.approx(60 * 50, abs=1)  # a third of what comes in
    assert cluster.total.left[0] == pytest.approx(300 * 100, rel=0.01)


def test_dropped_records_do_not_come_again() -> None:
    cluster, _ = overloaded(Engine(overflow=Overflow.DROP, queue_records=500, timeout_seconds=2.0))
    assert cluster.total.replayed[0] == 0
    assert cluster.state.queue[1].sum() == pytest.approx(200, abs=5)  # two seconds' worth: the older ones failed


def test_a_fast_parent_does_not_starve_a_slow_one_in_front_of_a_full_child() -> None:
    fan_in = Topology(
        (*Topology.chain("fast", "join").operators, *Topology.chain("slow").operators),
        (("fast", "join"), ("slow", "join")),
    )
    speeds = {"fast": Behaviour(service_ms=1.0), "slow": Behaviour(service_ms=8.0), "join": Behaviour(service_ms=10.0)}
    engine = Engine(overflow=Overflow.BACK_PRESSURE, queue_records=100)
    cluster = SimulatedCluster(Job("fan-in", fan_in, speeds, engine), constant(120.0, 600.0), Slo())
    cluster.advance(600.0)
    received = cluster.read()[-1].operators["join"].records_from
    assert received is not None
    assert sum(received.values()) == pytest.approx(60 * 100, rel=0.01)
    assert min(received.values()) > 0.3 * sum(received.values())


def test_a_plan_that_is_large_enough_ends_the_pressure() -> None:
    job = Job("chain", CHAIN, SPEEDS, Engine(queue_records=200))
    cluster = SimulatedCluster(job, constant(150.0, 1200.0), Slo())
    cluster.advance(300.0)
    cluster.apply(Plan({"read": 1, "work": 3, "write": 1}))
    cluster.advance(900.0)
    sample = cluster.read()[-1]
    assert sample.backlog == 0
    assert mean(sample.event_latency_ms) < 20.0


@pytest.mark.parametrize("overflow", Overflow)
def test_an_operator_that_lets_next_to_nothing_pass_has_room_behind_it_on_every_engine(overflow: Overflow) -> None:
    """Endless room, divided by a small selectivity, is more than an integer holds."""
    filtering = {**SPEEDS, "read": Behaviour(service_ms=1.0, selectivity=0.1)}
    job = Job("filter", CHAIN, filtering, Engine(overflow=overflow))
    cluster = SimulatedCluster(job, constant(150.0, 300.0), Slo())
    cluster.advance(300.0)
    sample = cluster.read()[-1]
    assert sample.operators["work"].records_in == pytest.approx(15 * sample.seconds, rel=0.01)
    assert sample.throughput == pytest.approx(150.0, rel=0.01)
