"""Micro-batches: operators follow each other on the same slots, so they share the time and cost the widest of them."""

from __future__ import annotations

import pytest

from penstock.load.curves import constant
from penstock.model import Execution, Observation, Plan, Sample, Slo, Topology
from penstock.performance.sequential import ConcurrentView
from penstock.policies.ds2 import Ds2
from penstock.simulator.cluster import SimulatedCluster
from penstock.simulator.job import Behaviour, Engine, Job

PAIR = Topology.chain("parse", "count")
SPEEDS = {"parse": Behaviour(service_ms=2.0), "count": Behaviour(service_ms=6.0)}


def batches(plan: Plan, rate: float, overhead: float = 0.0, seconds: float = 600.0) -> tuple[SimulatedCluster, Sample]:
    engine = Engine(execution=Execution.SEQUENTIAL, batch_seconds=1.0, batch_overhead_seconds=overhead)
    job = Job("pair", PAIR, SPEEDS, engine, start=plan)
    cluster = SimulatedCluster(job, constant(rate, seconds), Slo())
    cluster.advance(seconds)
    return cluster, cluster.read()[-1]


def test_stages_share_the_time_so_the_sum_of_their_work_decides() -> None:
    # 8 ms of work for each record: at 2 slots 250 records/s fill the time exactly.
    _, keeps_up = batches(Plan({"parse": 2, "count": 2}), 240.0)
    assert keeps_up.throughput == pytest.approx(240.0, rel=0.02)
    assert keeps_up.backlog == pytest.approx(0, abs=2 * 240)
    cluster, falls_behind = batches(Plan({"parse": 2, "count": 2}), 300.0)
    assert 200.0 < cluster.total.left[0] / 600.0 <= 250.0
    processing = falls_behind.processing_latency_ms
    assert processing is not None
    assert processing.mean is not None
    assert processing.mean > 5_000  # batches grow with what has piled up meanwhile


def test_concurrent_operators_would_keep_up_where_sequential_ones_do_not() -> None:
    plan = Plan({"parse": 1, "count": 2})
    concurrent = SimulatedCluster(Job("pair", PAIR, SPEEDS, start=plan), constant(300.0, 600.0), Slo())
    concurrent.advance(600.0)
    assert concurrent.read()[-1].throughput == pytest.approx(300.0, rel=0.01)
    _, sequential = batches(plan, 300.0)
    assert sequential.throughput != pytest.approx(300.0, rel=0.01)


def test_latency_is_the_wait_for_the_trigger_and_the_batch_itself() -> None:
    _, sample = batches(Plan({"parse": 4, "count": 4}), 200.0, overhead=0.1)
    processing, event = sample.processing_latency_ms, sample.event_latency_ms
    assert processing is not None
    assert event is not None
    assert processing.mean is not None
    assert processing.mean == pytest.approx(1e3 * (0.1 + 200 * 0.008 / 4), rel=0.02)
    assert event.mean == pytest.approx(processing.mean + 500.0, rel=0.03)  # half a trigger interval on average
    assert event.p99 == pytest.approx(processing.mean + 990.0, rel=0.05)


def test_it_costs_the_widest_operator_not_the_sum() -> None:
    cluster, _ = batches(Plan({"parse": 2, "count": 4}), 100.0)
    assert cluster.core_seconds == 4 * 600.0
    assert cluster.instance_seconds == 6 * 600.0


@pytest.mark.parametrize(("rate", "overhead", "slots"), [(240.0, 0.0, 2), (260.0, 0.0, 3), (240.0, 0.2, 3)])
def test_a_policy_made_for_concurrent_operators_finds_the_cheapest_plan(
    rate: float, overhead: float, slots: int
) -> None:
    """lambda * (2 + 6) ms slots are needed for the records, and the overhead of each batch takes time from all."""
    plan, slo = Plan({"parse": 4, "count": 4}), Slo(event_latency="2 s")
    _, sample = batches(plan, rate, overhead)
    shown = ConcurrentView(slo, trigger_seconds=1.0).of(sample)
    observation = Observation(t=600.0, topology=PAIR, slo=slo, plan=plan, samples=(shown,))
    assert Ds2().decide(observation).plan.parallelism == {"parse": slots, "count": slots}


def test_every_operator_shows_its_own_time_and_the_last_batch_shows_all_of_it() -> None:
    _, sample = batches(Plan({"parse": 2, "count": 4}), 100.0, overhead=0.1)
    parse, count = sample.operators["parse"], sample.operators["count"]
    assert parse.records_in is not None
    assert parse.useful_seconds == pytest.approx(0.002 * parse.records_in)
    assert count.useful_seconds == pytest.approx(0.006 * parse.records_in)
    (last,) = sample.batches or ()
    assert last.records == 100
    assert last.useful_seconds == pytest.approx(0.8)
    assert last.stage_seconds == pytest.approx(0.2 / 2 + 0.6 / 4)
    assert last.seconds == pytest.approx(0.1 + last.stage_seconds)


def test_a_change_takes_effect_at_the_next_batch() -> None:
    engine = Engine(execution=Execution.SEQUENTIAL, batch_seconds=1.0, batch_overhead_seconds=0.0)
    job = Job("pair", PAIR, SPEEDS, engine, start=Plan({"parse": 1, "count": 1}))
    cluster = SimulatedCluster(job, constant(300.0, 120.0), Slo(), measure_seconds=1.0)
    cluster.advance(10.0)
    cluster.apply(Plan({"parse": 16, "count": 16}))
    cluster.advance(110.0)
    assert cluster.total.dropped.sum() == 0
    last = cluster.read()[-1]
    assert last.throughput == pytest.approx(300.0, rel=0.01)


def test_what_a_batch_costs_its_instances_is_shared_between_them() -> None:
    engine = Engine(
        execution=Execution.SEQUENTIAL, batch_seconds=1.0, batch_overhead_seconds=0.1, batch_work_seconds=0.8
    )
    for slots in (2, 4):
        job = Job("pair", PAIR, SPEEDS, engine, start=Plan({"parse": slots, "count": slots}))
        cluster = SimulatedCluster(job, constant(50.0, 600.0), Slo(event_latency="2 s"))
        cluster.advance(600.0)
        sample = cluster.read()[-1]
        assert sample.batches is not None
        (batch,) = sample.batches
        assert batch.useful_seconds == pytest.approx(0.8 + 50 * 0.008)
        assert batch.stage_seconds == pytest.approx((0.8 + 50 * 0.008) / slots)
        assert batch.seconds == pytest.approx(0.1 + (0.8 + 50 * 0.008) / slots)


@pytest.mark.parametrize(("slots", "at_work"), [(1, 1), (3, 8 / 3), (5, 4), (7, 4), (8, 8), (16, 8)])
def test_tasks_take_rounds(slots: int, at_work: float) -> None:
    """Eight tasks on five slots take as long as on four: in the second round two slots have nothing to do."""
    engine = Engine(execution=Execution.SEQUENTIAL, batch_seconds=1.0, batch_overhead_seconds=0.0)
    job = Job(
        "one",
        Topology.chain("parse"),
        {"parse": Behaviour(service_ms=8.0, tasks=8)},
        engine,
        start=Plan({"parse": slots}),
    )
    cluster = SimulatedCluster(job, constant(100.0, 600.0), Slo(event_latency="10 s"))
    cluster.advance(600.0)
    processing = cluster.read()[-1].processing_latency_ms
    assert processing is not None
    assert processing.mean == pytest.approx(1e3 * 100 * 0.008 / at_work, rel=0.02)
