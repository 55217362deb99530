"""What instances share: the cores of a worker, each other's attention, a store outside, the network."""

from __future__ import annotations

from dataclasses import replace

import pytest

from penstock.cli.workloads import workload
from penstock.load.curves import constant
from penstock.model import Plan, Sample, Slo, Topology, Worker
from penstock.performance.placement import best_fit, round_robin
from penstock.runs.workload import Workload
from penstock.simulator.cluster import SimulatedCluster
from penstock.simulator.job import Behaviour, Engine, Job


def settled(case: Workload, plan: Plan, rate: float) -> Sample:
    """The last of ten minutes under one plan."""
    job = Job(case.name, case.job.topology, case.job.behaviours, case.job.engine, case.job.workers, start=plan)
    cluster = SimulatedCluster(job, constant(rate, 600.0), case.slo)
    cluster.advance(600.0)
    return cluster.read()[-1]


def wordcount(parallelism: int) -> Sample:
    case = workload("wordcount_case_study")
    return settled(case, Plan(dict.fromkeys(case.job.topology.names, parallelism)), 300e3)


@pytest.mark.parametrize(("parallelism", "throughput"), [(1, 150e3), (2, 250e3), (3, 275e3)])
def test_wordcount_saturates_where_the_case_study_saw_it(parallelism: int, throughput: float) -> None:
    assert wordcount(parallelism).throughput == pytest.approx(throughput, rel=0.02)


@pytest.mark.parametrize("parallelism", [4, 5, 6])
def test_wordcount_keeps_up_from_four_instances_on(parallelism: int) -> None:
    sample = wordcount(parallelism)
    assert sample.throughput == pytest.approx(300e3, rel=0.001)
    assert sample.backlog == 0


def test_wordcount_has_its_best_latency_at_five_instances() -> None:
    latency = {}
    for parallelism in (4, 5, 6):
        measured = wordcount(parallelism).processing_latency_ms
        assert measured is not None
        assert measured.mean is not None
        latency[parallelism] = measured.mean
    assert latency[5] < latency[4] < latency[6]
    assert latency[5] == pytest.approx(100, rel=0.05)
    assert latency[6] == pytest.approx(125, rel=0.05)


@pytest.mark.parametrize("parallelism", [34, 40])
def test_yahoo_is_capped_by_its_store_whatever_the_parallelism(parallelism: int) -> None:
    case = workload("yahoo")
    plan = Plan({"source": 8, "parse": 4, "filter": 2, "project": 2, "join": parallelism})
    assert settled(case, plan, 60e3).throughput == pytest.approx(35e3, rel=0.01)


def test_an_instance_that_waits_for_the_store_looks_slower_the_more_there_are() -> None:
    """This is what leads DS2 astray: the true rate falls with each instance that it adds."""
    case = workload("yahoo")

    def true_rate(k: int) -> float:
        plan = Plan({"source": 8, "parse": 4, "filter": 2, "project": 2, "join": k})
        window = settled(case, plan, 60e3).operators["join"]
        assert window.records_in is not None
        assert window.useful_seconds is not None
        return window.records_in / window.useful_seconds

    assert true_rate(40) == pytest.approx(true_rate(30) * 30 / 40, rel=0.02)


BUSY = {"a": Behaviour(service_ms=10.0), "b": Behaviour(service_ms=10.0)}


def on_workers(cores: tuple[float, ...], plan: Plan, network_ms: float = 0.0) -> Sample:
    workers = tuple(Worker(f"w{i}", each) for i, each in enumerate(cores))
    job = Job("pair", Topology.chain("a", "b"), BUSY, Engine(network_ms=network_ms), workers, start=plan)
    cluster = SimulatedCluster(job, constant(1000.0, 300.0), Slo())
    cluster.advance(300.0)
    return cluster.read()[-1]


def test_instances_on_one_worker_share_its_cores() -> None:
    four = Plan({"a": 2, "b": 2})
    assert on_workers((4.0,), four).throughput == pytest.approx(200.0, rel=0.02)
    assert on_workers((2.0,), four).throughput == pytest.approx(100.0, rel=0.02)
    assert on_workers((2.0, 2.0), four).throughput == pytest.approx(200.0, rel=0.02)


def test_an_instance_that_uses_half_of_the_core_it_claims_leaves_the_rest_to_others() -> None:
    frugal = {name: replace(behaviour, busy_cores=0.5) for name, behaviour in BUSY.items()}
    job = Job("pair", Topology.chain("a", "b"), frugal, workers=(Worker("w0", 2.0),), start=Plan({"a": 2, "b": 2}))
    cluster = SimulatedCluster(job, constant(1000.0, 300.0), Slo())
    cluster.advance(300.0)
    assert cluster.read()[-1].throughput == pytest.approx(200.0, rel=0.02)


def test_a_plan_says_where_instances_run_and_that_matters() -> None:
    crowded = Plan({"a": 2, "b": 2}, placement={"a": ("w0", "w0"), "b": ("w0", "w0")})
    assert on_workers((2.0, 2.0), crowded).throughput == pytest.approx(100.0, rel=0.02)


def test_records_that_cross_between_workers_take_longer() -> None:
    job = Topology.chain("a", "b")
    workers = (Worker("w0", 4), Worker("w1", 4))
    parallelism = {"a": 1, "b": 1}
    together = best_fit(job, parallelism, workers)
    apart = round_robin(job, parallelism, workers)

    def latency(placement: object, network_ms: float) -> float:
        plan = Plan(parallelism, placement=placement)  # type: ignore[arg-type]
        simulated = Job("pair", job, BUSY, Engine(network_ms=network_ms), workers, start=plan)
        cluster = SimulatedCluster(simulated, constant(10.0, 300.0), Slo())
        cluster.advance(300.0)
        measured = cluster.read()[-1].processing_latency_ms
        assert measured is not None
        assert measured.mean is not None
        return measured.mean

    assert latency(apart, 50.0) == pytest.approx(latency(together, 50.0) + 50.0, rel=0.01)
    assert latency(apart, 0.0) == pytest.approx(latency(together, 0.0), rel=0.01)


def test_a_key_that_everybody_wants_overloads_its_owner_only() -> None:
    from penstock.simulator.job import Grouping

    skewed = {"a": Behaviour(service_ms=10.0, grouping=Grouping.KEYED, key_skew=1.0)}
    job = Job("keyed", Topology.chain("a"), skewed, Engine(queue_records=10**6), start=Plan({"a": 4}))
    cluster = SimulatedCluster(job, constant(300.0, 100.0), Slo())
    cluster.advance(100.0)
    queues = cluster.state.queue[0, :4].tolist()
    assert queues[0] == pytest.approx((300 * 12 / 25 - 100) * 100, rel=0.05)  # its share of a Zipf law over four
    assert queues[1:] == [0, 0, 0]
