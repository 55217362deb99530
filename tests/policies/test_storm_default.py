"""The baseline: as the user sized it, spread evenly."""

from __future__ import annotations

from penstock.model import Observation, Operator, OperatorSample, Plan, ReasonCode, Sample, Slo, Topology, Worker
from penstock.policies.storm_default import StormDefault

JOB = Topology((Operator("spout"), Operator("bolt")), (("spout", "bolt"),))
OVERLOADED = Sample(t=0, seconds=10, input_rate=9999, operators={"spout": OperatorSample(1), "bolt": OperatorSample(3)})


def seen(plan: Plan, workers: str = "") -> Observation:
    machines = tuple(Worker(name, 2) for name in workers)
    return Observation(t=10, topology=JOB, slo=Slo(), plan=plan, samples=(OVERLOADED,), workers=machines)


def test_it_never_changes_the_parallelism() -> None:
    plan = Plan({"spout": 1, "bolt": 3})
    decision = StormDefault().decide(seen(plan))
    assert decision.plan is plan
    assert decision.reason.code is ReasonCode.STEADY


def test_it_spreads_the_instances_once() -> None:
    plan = Plan({"spout": 1, "bolt": 3})
    first = StormDefault().decide(seen(plan, "abc"))
    assert first.plan.parallelism == plan.parallelism
    assert first.plan.placement == {"spout": ("a",), "bolt": ("b", "c", "a")}
    assert StormDefault().decide(seen(first.plan, "abc")).plan is first.plan


def test_instances_of_a_lost_worker_find_another() -> None:
    plan = Plan({"spout": 1, "bolt": 3}, placement={"spout": ("a",), "bolt": ("b", "c", "a")})
    assert StormDefault().decide(seen(plan, "ab")).plan.placement == {"spout": ("a",), "bolt": ("b", "a", "b")}
