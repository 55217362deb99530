"""Operators that share their instances: what they can do, how soon they answer, what they hold."""

from __future__ import annotations

from dataclasses import replace

import pytest

from penstock.load.curves import constant
from penstock.model import Operator, Plan, Sample, Slo, Topology
from penstock.simulator.cluster import SimulatedCluster
from penstock.simulator.job import Behaviour, Engine, Grouping, Job
from penstock.simulator.ladder import cheapest
from penstock.simulator.steady import SteadyState

SLO = Slo(event_latency="10 s")
SERVICE_MS = {"read": 2.0, "parse": 3.0, "count": 5.0}
FUSED = Plan({"read": 2, "parse": 2, "count": 2})
MIXED = Plan({"read": 2, "parse": 2, "count": 3})


def job(chained: bool = True, selectivity: float = 1.0, most: int = 8) -> Job:
    behaviours = {name: Behaviour(service_ms=ms, hop_ms=20.0) for name, ms in SERVICE_MS.items()}
    behaviours["read"] = replace(behaviours["read"], selectivity=selectivity)
    operators = [Operator(name, max=most, chained=chained) for name in SERVICE_MS]
    return Job("line", Topology.chain(*operators), behaviours, engine=Engine(noise=0.0))


def last_window(job: Job, plan: Plan, rate: float, seconds: float = 600.0) -> Sample:
    cluster = SimulatedCluster(job, constant(rate, seconds), SLO)
    cluster.apply(plan)
    cluster.advance(seconds)
    return cluster.read()[-1]


@pytest.mark.parametrize(
    ("plan", "selectivity", "most"),
    [
        (FUSED, 1.0, 2 / 0.010),
        (FUSED, 2.0, 2 / 0.018),  # two records are parsed and counted for each that is read
        (MIXED, 1.0, 2 / 0.005),  # read and parse together; count alone could do 600
        (Plan({"read": 1, "parse": 2, "count": 4}), 1.0, 500.0),
    ],
)
def test_instances_that_are_shared_do_the_work_of_all_their_operators(
    plan: Plan, selectivity: float, most: float
) -> None:
    made = job(selectivity=selectivity)
    assert last_window(made, plan, 1_000.0).throughput == pytest.approx(most, rel=0.01)
    assert SteadyState(made, SLO).highest_rate(plan, 1_000.0) == pytest.approx(most, rel=0.02)


def test_useful_time_is_each_operators_own() -> None:
    sample = last_window(job(), FUSED, 100.0)
    for name, milliseconds in SERVICE_MS.items():
        operator = sample.operators[name]
        assert operator.useful_seconds == pytest.approx((operator.records_in or 0.0) * milliseconds / 1e3, rel=0.01)


def test_records_pass_from_one_to_the_next_without_a_hop_and_wait_once() -> None:
    fused, apart = (last_window(job(chained), FUSED, 20.0).processing_latency_ms for chained in (True, False))
    assert fused is not None
    assert apart is not None
    assert fused.mean is not None
    assert apart.mean is not None
    assert apart.mean - fused.mean == pytest.approx(2 * 20.0, abs=1.0)
    assert fused.mean == pytest.approx(sum(SERVICE_MS.values()), abs=0.5)


def test_records_are_handed_on_to_a_chain_that_does_not_read_itself() -> None:
    made = job()
    operators = (replace(made.topology["read"], readers=2), *made.topology.operators[1:])
    read_for = replace(
        made, topology=replace(made.topology, operators=operators), engine=Engine(noise=0.0, entry_ms=7.0)
    )
    itself, apart = (
        last_window(read_for, Plan(dict.fromkeys(SERVICE_MS, k)), 20.0).processing_latency_ms for k in (2, 3)
    )
    assert itself is not None
    assert apart is not None
    assert itself.mean == pytest.approx(7.0 + sum(SERVICE_MS.values()), abs=0.5)
    assert apart.mean == pytest.approx(20.0 + 7.0 + sum(SERVICE_MS.values()), abs=0.5)


def test_any_job_can_be_run_with_operators_that_share() -> None:
    """Records with a key belong to one instance, whichever made them."""
    apart = job(chained=False)
    keyed = replace(apart.behaviours["count"], grouping=Grouping.KEYED)
    shares = replace(apart, behaviours={**apart.behaviours, "count": keyed}).chained()
    assert shares.topology.chains(FUSED.parallelism) == (("read", "parse"), ("count",))


@pytest.mark.parametrize(("plan", "slots"), [(FUSED, 2), (MIXED, 5), (Plan({"read": 1, "parse": 2, "count": 3}), 6)])
def test_what_is_shared_is_paid_once(plan: Plan, slots: int) -> None:
    cluster = SimulatedCluster(job(), constant(10.0, 60.0), SLO)
    cluster.apply(plan)
    cluster.advance(60.0)
    assert cluster.core_seconds == pytest.approx(60.0 * slots)


@pytest.mark.parametrize("rate", [50.0, 150.0, 420.0])
def test_the_cheapest_plan_is_one_that_shares(rate: float) -> None:
    steady, apart = SteadyState(job(), SLO), SteadyState(job(chained=False), SLO)
    together, alone = cheapest(steady, rate), cheapest(apart, rate)
    assert together is not None
    assert alone is not None
    assert steady.slots(together) <= apart.slots(alone)


def test_where_instances_are_limited_the_cheapest_plan_parts() -> None:
    """Two instances of all would carry 200 records a second."""
    limited = job(most=2)
    plan = cheapest(SteadyState(limited, SLO), 300.0)
    assert plan is not None
    assert len(limited.topology.chains(plan.parallelism)) > 1
