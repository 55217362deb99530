"""The steady state that demand and oracle rest on is the one that the simulator itself comes to."""

from __future__ import annotations

from dataclasses import replace

import pytest

from penstock.cli.workloads import workloads
from penstock.load.curves import constant
from penstock.model import Execution, Operator, Plan, Slo, Topology
from penstock.runs.workload import Workload
from penstock.simulator.cluster import SimulatedCluster
from penstock.simulator.job import Behaviour, Engine, Job
from penstock.simulator.ladder import ladder

SECONDS = 300.0

BATCHES = Workload(
    job=Job(
        "batches",
        Topology.chain(Operator("read", max=16), Operator("count", max=16)),
        {"read": Behaviour(service_ms=0.5), "count": Behaviour(service_ms=1.0, coordination=0.02)},
        engine=Engine(execution=Execution.SEQUENTIAL, batch_seconds=2.0, batch_overhead_seconds=0.3),
    ),
    slo=Slo(event_latency="3 s"),
    trace=constant(4000.0, 600.0),
    summary="",
    source="",
)


def part_violated(load: Workload, plan: Plan, rate: float) -> float:
    """The part of all seconds in which a target is missed, once the job has settled; service times do not wander."""
    # Near saturation a queue fills slowly; where records time out, those that wait too long are replayed soon.
    settling = 7200.0 if load.job.engine.timeout_seconds is None else 600.0
    job = replace(load.job, start=plan, engine=replace(load.job.engine, noise=0.0))
    run = SimulatedCluster(job, constant(rate, settling + SECONDS), load.slo)
    run.advance(settling)
    before = float(run.total.seconds[1])
    run.advance(SECONDS)
    return (float(run.total.seconds[1]) - before) / SECONDS


@pytest.mark.parametrize("load", [*workloads().values(), BATCHES], ids=lambda load: load.name)
def test_every_target_holds_up_to_the_highest_rate_of_a_plan_and_not_beyond(load: Workload) -> None:
    rungs = ladder(load.job, load.slo, load.trace.peak).rungs
    for rung in {rungs[0], rungs[len(rungs) // 2], rungs[-1]}:
        assert part_violated(load, rung.plan, 0.97 * rung.rate) == 0.0, str(rung)
        if rung.rate < load.trace.peak:
            assert part_violated(load, rung.plan, 1.04 * rung.rate) > 0.5, str(rung)
