"""A twin is as its original: here the original is simulated too, so that the answer is known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from penstock.load.curves import constant
from penstock.model import Execution, Operator, Plan, Sample, Slo, Topology
from penstock.runs.twin import twin, under_fixed_plan
from penstock.simulator.cluster import SimulatedCluster
from penstock.simulator.job import Behaviour, Engine, Job

TOPOLOGY = Topology.chain("parse", "work")
PLAN = Plan({"parse": 1, "work": 3})
SLO = Slo(event_latency="2 s")
LOAD = constant(400.0, 300.0)


def original() -> Job:
    return Job(
        "job",
        TOPOLOGY,
        {"parse": Behaviour(1.0, selectivity=0.5, hop_ms=10.0), "work": Behaviour(8.0, hop_ms=30.0)},
        Engine(Execution.CONCURRENT),
        start=PLAN,
    )


def measured(job: Job) -> list[Sample]:
    cluster = SimulatedCluster(job, LOAD, SLO, measure_seconds=10.0)
    cluster.advance(LOAD.seconds)
    return list(cluster.read())


def test_a_twin_has_the_service_times_that_were_measured() -> None:
    copy = twin("job", TOPOLOGY, measured(original()), Execution.CONCURRENT, 1.0)
    assert copy is not None
    assert copy.behaviours["parse"].service_ms == pytest.approx(1.0, rel=0.01)
    assert copy.behaviours["work"].service_ms == pytest.approx(8.0, rel=0.01)
    assert copy.behaviours["parse"].selectivity == pytest.approx(0.5, rel=0.01)


def test_a_twin_foretells_throughput_and_latency() -> None:
    samples = measured(original())
    copy = twin("job", TOPOLOGY, samples, Execution.CONCURRENT, 1.0)
    assert copy is not None
    foretold = under_fixed_plan(copy, PLAN, LOAD, SLO)
    last = samples[-1].event_latency_ms
    assert last is not None
    assert foretold.processed_ratio == pytest.approx(1.0, abs=0.02)
    assert foretold.event_latency_ms.mean == pytest.approx(last.mean, rel=0.15)


def test_a_twin_of_fused_and_parted_plans_foretells_a_third() -> None:
    """What a hop takes is told from the rest by plans with different numbers of them."""
    topology = Topology.chain(
        Operator("read", readers=2), Operator("parse", chained=True), Operator("work", chained=True)
    )
    behaviours = {
        "read": Behaviour(2.0, hop_ms=9.0),
        "parse": Behaviour(3.0, hop_ms=9.0),
        "work": Behaviour(5.0, hop_ms=9.0),
    }
    job = Job("job", topology, behaviours, Engine(Execution.CONCURRENT, entry_ms=6.0))
    plans = {name: Plan(dict(zip(topology.names, k, strict=True))) for name, k in (
        ("fused", (2, 2, 2)), ("parted", (1, 2, 3)), ("mixed", (2, 2, 3)),
    )}  # fmt: skip
    load = constant(60.0, 300.0)
    seen = {}
    for name, plan in plans.items():
        cluster = SimulatedCluster(replace(job, start=plan), load, SLO, measure_seconds=10.0)
        cluster.advance(load.seconds)
        seen[name] = list(cluster.read())
    copy = twin("job", topology, [*seen["fused"], *seen["parted"]], Execution.CONCURRENT, 1.0)
    assert copy is not None
    assert copy.engine.entry_ms == pytest.approx(6.0, abs=1.0)
    assert copy.behaviours["work"].hop_ms == pytest.approx(9.0, abs=1.0)
    last = seen["mixed"][-1].processing_latency_ms
    assert last is not None
    foretold = under_fixed_plan(copy, plans["mixed"], load, SLO)
    assert foretold.processing_latency_ms.mean == pytest.approx(last.mean, rel=0.15)


def test_records_that_come_evenly_wait_no_longer_in_the_twin() -> None:
    even = {name: Behaviour(milliseconds, variability=0.0) for name, milliseconds in (("parse", 1.0), ("work", 5.0))}
    job = Job("job", TOPOLOGY, even, Engine(Execution.CONCURRENT), start=PLAN)
    copy = twin("job", TOPOLOGY, measured(job), Execution.CONCURRENT, 1.0)
    assert copy is not None
    assert [each.variability for each in copy.behaviours.values()] == pytest.approx([0.0, 0.0], abs=0.02)


def test_without_measurements_there_is_no_twin() -> None:
    assert twin("job", TOPOLOGY, [], Execution.CONCURRENT, 1.0) is None
