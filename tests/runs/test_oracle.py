"""The oracle against brute force: on small cases no schedule at all is cheaper with no more violations."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from penstock.load.trace import Trace
from penstock.model import Execution, Operator, Plan, Slo, Topology
from penstock.runs.clairvoyant import schedules
from penstock.runs.oracle import ALLOWED, oracle
from penstock.runs.schedule import Schedule
from penstock.runs.simulation import Simulation
from penstock.runs.workload import Workload
from penstock.simulator.conditions import Conditions
from penstock.simulator.executors import Executors
from penstock.simulator.job import Behaviour, Change, Engine, Job

COUNT = Job(
    "count",
    Topology((Operator("count", max=4),)),
    {"count": Behaviour(service_ms=10.0)},
    engine=Engine(change=Change.RESTART, downtime_seconds=2.0, queue_records=100),
    start=Plan({"count": 2}),
)
PAIR = replace(
    COUNT,
    topology=Topology.chain(Operator("read", max=2), Operator("count", max=3)),
    behaviours={"read": Behaviour(service_ms=5.0), "count": Behaviour(service_ms=10.0)},
    start=Plan({"read": 1, "count": 2}),
)
FORK = replace(
    COUNT,
    topology=Topology(
        (Operator("read", max=1), Operator("left", max=2), Operator("right", max=2)),
        (("read", "left"), ("read", "right")),
    ),
    behaviours={
        "read": Behaviour(service_ms=2.0),
        "left": Behaviour(service_ms=8.0),
        "right": Behaviour(service_ms=10.0, selectivity=0.5),
    },
    start=Plan({"read": 1, "left": 1, "right": 1}),
)
BATCHES = replace(
    COUNT,
    engine=Engine(execution=Execution.SEQUENTIAL, batch_seconds=1.0, batch_overhead_seconds=0.2),
)
EXECUTORS = Conditions(executors=Executors(cores=2, arrive_seconds=5.0, leave_seconds=3.0))

LOADS = {
    "rises and falls": (90.0, 180.0, 280.0, 150.0, 60.0),
    "one spike": (80.0, 80.0, 250.0, 80.0, 80.0),
    "calm": (120.0, 120.0, 120.0, 120.0, 120.0),
}


def simulation(job: Job, rates: tuple[float, ...], conditions: Conditions, interval: float = 20.0) -> Simulation:
    times = tuple(interval * (number + end) for number in range(len(rates)) for end in (0, 1))
    trace = Trace("small", times, tuple(rate for rate in rates for _ in (0, 1)))
    slo = Slo(event_latency="2 s" if job.engine.execution is Execution.SEQUENTIAL else "500 ms")
    load = Workload(job=job, slo=slo, trace=trace, summary="", source="")
    return Simulation(load, policy="static", interval=f"{interval:g} s", conditions=conditions)


def all_schedules(job: Job, intervals: int) -> list[Schedule]:
    names = job.topology.names
    sizes = [range(job.topology[name].min, job.topology[name].max + 1) for name in names]
    plans = [Plan(dict(zip(names, each, strict=True))) for each in product(*sizes)]
    return [Schedule((job.first_plan, *rest)) for rest in product(plans, repeat=intervals - 1)]


@pytest.mark.parametrize("load", LOADS)
@pytest.mark.parametrize(
    ("job", "conditions"),
    [
        (COUNT, Conditions()),
        (replace(COUNT, engine=replace(COUNT.engine, change=Change.LIVE)), Conditions()),
        (COUNT, EXECUTORS),
        (BATCHES, Conditions()),
        (BATCHES, EXECUTORS),
    ],
    ids=["restart", "live", "executors", "batches", "batches on executors"],
)
def test_no_schedule_is_cheaper_with_no_more_violations(job: Job, conditions: Conditions, load: str) -> None:
    check(simulation(job, LOADS[load], conditions))


@pytest.mark.parametrize("job", [PAIR, FORK], ids=["chain", "fork"])
def test_no_schedule_of_a_graph_is_cheaper_with_no_more_violations(job: Job) -> None:
    check(simulation(job, (70.0, 190.0, 120.0, 60.0), Conditions()))


def check(small: Simulation) -> None:
    """Compare every schedule that the search found, and the oracle's choice, with all schedules that there are."""
    intervals = round(small.workload.trace.seconds / small.interval_seconds)
    everything = [each.run(small, 0) for each in all_schedules(small.workload.job, intervals)]
    for way in schedules(small):
        found = way.schedule.run(small, 0)
        expected = way.core_seconds, way.violated_seconds
        assert expected == pytest.approx((found.core_seconds, found.violation_ratio * found.seconds))
        cheaper = [
            result for result in everything
            if result.violation_ratio <= found.violation_ratio and result.core_seconds < found.core_seconds - 1e-6
        ]  # fmt: skip
        assert not cheaper, (way, min(cheaper, key=lambda result: result.core_seconds))
    allowed = min(result.violation_ratio for result in everything) + ALLOWED
    within = [result.core_seconds for result in everything if result.violation_ratio <= allowed]
    assert oracle(small, [0], allowed).best.core_seconds == pytest.approx(min(within))
