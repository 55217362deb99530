"""Below saturation records wait as queueing theory says, and as a simulation of every single record shows."""

from __future__ import annotations

import heapq

import numpy as np
import pytest

from penstock.load.curves import constant
from penstock.model import Plan, Slo, Topology
from penstock.performance.jackson import Station
from penstock.simulator.cluster import SimulatedCluster
from penstock.simulator.job import Behaviour, Engine, Grouping, Job

SERVICE_RATE = 10.0  # records a second and instance
CASES = [(k, rho) for k in (1, 2, 8) for rho in (0.5, 0.7, 0.9)]


def simulated_wait(k: int, rho: float, grouping: Grouping = Grouping.BALANCED, variability: float = 1.0) -> float:
    """Mean seconds in the queue, by the simulator."""
    behaviour = Behaviour(service_ms=1e3 / SERVICE_RATE, grouping=grouping, variability=variability)
    job = Job("queue", Topology.chain("a"), {"a": behaviour}, Engine(), start=Plan({"a": k}))
    cluster = SimulatedCluster(job, constant(rho * k * SERVICE_RATE, 4000.0), Slo(), measure_seconds=1000.0)
    cluster.advance(4000.0)
    settled = cluster.read()[-1].operators["a"]
    assert settled.latency_ms is not None
    return settled.latency_ms / 1e3 - 1.0 / SERVICE_RATE


def wait_of_every_record(k: int, rho: float) -> float:
    """Mean seconds in the queue, record by record: each goes to the instance that is free first."""
    records = 1_500_000 if rho == 0.9 else 300_000  # the fuller the queue, the longer its memory
    random = np.random.default_rng(k)
    arrivals = np.cumsum(random.exponential(1.0 / (rho * k * SERVICE_RATE), records))
    services = random.exponential(1.0 / SERVICE_RATE, records)
    free_at = [0.0] * k
    waited = 0.0
    for arrival, service in zip(arrivals.tolist(), services.tolist(), strict=True):
        start = max(arrival, heapq.heappop(free_at))
        waited += start - arrival
        heapq.heappush(free_at, start + service)
    return waited / records


@pytest.mark.parametrize(("k", "rho"), CASES)
def test_the_mean_wait_is_that_of_erlang_c(k: int, rho: float) -> None:
    expected = Station.of(k, rho * k * SERVICE_RATE, SERVICE_RATE).wait
    assert simulated_wait(k, rho) == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize(("k", "rho"), CASES)
def test_the_mean_wait_is_that_of_a_simulation_of_every_record(k: int, rho: float) -> None:
    assert simulated_wait(k, rho) == pytest.approx(wait_of_every_record(k, rho), rel=0.05)


@pytest.mark.parametrize("rho", [0.5, 0.9])
def test_shuffled_records_wait_as_if_each_instance_were_alone(rho: float) -> None:
    alone = Station.of(1, rho * SERVICE_RATE, SERVICE_RATE).wait
    assert simulated_wait(8, rho, Grouping.SHUFFLE) == pytest.approx(alone, rel=0.05)


def test_steady_service_halves_the_wait() -> None:
    assert simulated_wait(2, 0.7, variability=0.5) == pytest.approx(simulated_wait(2, 0.7) / 2, rel=1e-6)


def test_percentiles_of_one_server_are_those_of_an_exponential_sojourn() -> None:
    job = Job("queue", Topology.chain("a"), {"a": Behaviour(service_ms=100.0)})
    cluster = SimulatedCluster(job, constant(7.0, 4000.0), Slo(), measure_seconds=1000.0)
    cluster.advance(4000.0)
    latency = cluster.read()[-1].processing_latency_ms
    assert latency is not None
    mean = 1e3 / (SERVICE_RATE - 7.0)  # M/M/1: the time in the system is exponential
    assert latency.mean == pytest.approx(mean, rel=0.02)
    assert latency.p50 == pytest.approx(mean * np.log(2), rel=0.05)
    assert latency.p95 == pytest.approx(mean * np.log(20), rel=0.05)
    assert latency.p99 == pytest.approx(mean * np.log(100), rel=0.05)
