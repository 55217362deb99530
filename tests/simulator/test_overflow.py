"""Three engines, three ways to be overloaded."""

from __future__ import annotations

import pytest

from penstock.cli.workloads import workload
from penstock.load.curves import constant, steps
from penstock.model import Latency, Operator, Plan, Sample, Slo, Topology
from penstock.simulator.cluster import SimulatedCluster
from penstock.simulator.job import Behaviour, Change, Engine, Job, Overflow

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
    came = sample.operators["work"].records_from
    assert came is not None
    assert queue(sample, "work") == pytest.approx(30.0 * came["read"] / 60.0, rel=0.1)  # all that came in half a minute
    assert mean(sample.processing_latency_ms) == pytest.approx(30e3, rel=0.02)
    assert cluster.total.dropped.sum() == cluster.total.replayed[0] + cluster.waiting.replays.sum() > 0
    # What is sent again comes on top: a job that is too small never catches up by itself.
    read = sample.operators["read"].records_in
    assert read is not None
    assert read / 60.0 > 190.0


def test_a_job_that_times_out_recovers_once_the_load_is_gone() -> None:
    job = Job("chain", CHAIN, SPEEDS, Engine(overflow=Overflow.REPLAY, timeout_seconds=30.0))
    cluster = SimulatedCluster(job, steps((150.0, 10.0), 300.0), Slo())
    cluster.advance(600.0)
    assert queue(cluster.read()[-1], "work") <= 1
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
    assert cluster.state.queue[1].sum() == pytest.approx(2 * 150, abs=5)  # what came in two seconds: older ones failed


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


def test_a_record_fails_when_it_is_late_and_not_before() -> None:
    """400 records/s come to an operator that does 100, until it gets more instances after 20 s. Nobody is late for
    another 10 s, though the one that is behind needs longer for its queue."""
    engine = Engine(overflow=Overflow.DROP, queue_records=10**6, timeout_seconds=30.0)
    job = Job("one", Topology.chain("work"), {"work": Behaviour(service_ms=10.0)}, engine)
    cluster = SimulatedCluster(job, constant(400.0, 120.0), Slo())
    cluster.advance(20.0)
    cluster.apply(Plan({"work": 20}))
    cluster.advance(15.0)
    assert cluster.total.dropped.sum() == 0
    assert cluster.state.queue.sum() > 3000  # the one that is behind still has what would take it longer than 30 s
    cluster.advance(85.0)
    assert cluster.total.dropped.sum() == cluster.total.offered.sum() - cluster.total.left[0] > 0


def test_records_keep_their_age_when_a_restart_hands_them_to_other_instances() -> None:
    engine = Engine(
        overflow=Overflow.DROP, change=Change.RESTART, queue_records=10**6, timeout_seconds=30.0, downtime_seconds=15.0
    )
    job = Job("one", Topology.chain("work"), {"work": Behaviour(service_ms=10.0)}, engine)
    cluster = SimulatedCluster(job, steps((300.0, 0.0, 0.0, 0.0), 20.0), Slo(), measure_seconds=1.0)
    cluster.advance(20.0)
    assert cluster.state.queue.sum() == 4000
    cluster.apply(Plan({"work": 2}))
    cluster.advance(15.0)
    assert cluster.state.queue.sum() == 4000  # nothing moves while it restarts
    # Two instances do 200 a second from now on. At 40 s they have done 3,000, as many as came up to 10 s; from then on
    # records grow late faster than they are processed, and at 50 s all that came is done or late.
    cluster.advance(4.0)
    assert cluster.total.dropped.sum() == 0
    cluster.advance(13.0)
    assert cluster.state.queue.sum() == 0
    assert cluster.total.dropped.sum() == pytest.approx(1000, abs=200)  # a step more or less


def test_what_two_branches_lose_of_one_record_is_replayed_once() -> None:
    """Both sinks of a star are overloaded. Two hours later the source replays as much as it did, not 2**240 times."""
    star = Topology(tuple(map(Operator, ("read", "left", "right"))), (("read", "left"), ("read", "right")))
    speeds = {"read": Behaviour(service_ms=0.1, selectivity=0.5), "left": SPEEDS["work"], "right": SPEEDS["work"]}
    job = Job("star", star, speeds, Engine(overflow=Overflow.REPLAY, timeout_seconds=30.0))
    cluster = SimulatedCluster(job, constant(240.0, 7200.0), Slo())
    cluster.advance(7200.0)
    samples = cluster.read()
    assert all((sample.dropped or 0.0) >= 0.0 for sample in samples)
    # 20 records/s too many at each sink: after n time-outs 40 n source records/s come again.
    per_second = (samples[-1].dropped or 0.0) / samples[-1].seconds
    assert per_second == pytest.approx(2 * 20 * 7200 / 30, rel=0.1)


def test_the_star_of_autoscale_stays_in_bounds_for_two_hours() -> None:
    star = workload("star")
    cluster = SimulatedCluster(star.job, constant(90.0, 7200.0), star.slo)
    cluster.advance(7200.0)
    assert all(0.0 <= (sample.dropped or 0.0) < 1e7 for sample in cluster.read())


def test_what_a_lossy_restart_loses_is_in_the_next_sample() -> None:
    engine = Engine(overflow=Overflow.DROP, change=Change.LOSSY_RESTART, queue_records=10**6, downtime_seconds=5.0)
    job = Job("one", Topology.chain("work"), {"work": Behaviour(service_ms=10.0)}, engine)
    cluster = SimulatedCluster(job, constant(150.0, 120.0), Slo(), measure_seconds=10.0)
    cluster.advance(60.0)
    waiting = int(cluster.state.queue.sum())
    cluster.apply(Plan({"work": 2}))
    cluster.advance(60.0)
    assert [sample.dropped for sample in cluster.read()] == [0] * 6 + [waiting] + [0] * 5
    assert cluster.total.dropped.sum() == waiting == 3000
