"""DABS-Storm is another rule than AUTOSCALE's of 2017, and its restarts lose what waits."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from penstock.model import (
    InvalidValueError,
    Observation,
    Operator,
    OperatorSample,
    Plan,
    ReasonCode,
    Sample,
    Slo,
    Topology,
)
from penstock.policies import POLICIES
from penstock.policies.autoscale import Autoscale
from penstock.policies.dabs import Dabs

STEP = 10.0


def seen(topology: Topology, plan: Plan, samples: list[Sample]) -> Observation:
    return Observation(t=samples[-1].end, topology=topology, slo=Slo(), plan=plan, samples=tuple(samples))


def working(received: float, latencies: list[float], degree: int) -> Observation:
    """One operator that processes all it receives, a measurement every 10 s."""
    job = Topology((Operator("work", max=20),))
    samples = [
        Sample(t=STEP * i, seconds=STEP, input_rate=received / STEP, operators={
            "work": OperatorSample(degree, received, received, received * latency, queue=0.0)})
        for i, latency in enumerate(latencies)
    ]  # fmt: skip
    return seen(job, Plan({"work": degree}), samples)


def test_capacity_is_the_mean_over_all_measurements_of_the_window() -> None:
    """50 ms for three measurements, then 100: 20 and 10 records/s, 15 on average, where AUTOSCALE divides sums."""
    observation = working(100, [0.05] * 3 + [0.1] * 3, degree=2)
    assert Dabs().decide(observation).figures["capacity"]["work"] == pytest.approx(15 * 60 * 2)
    assert Autoscale().decide(observation).figures["Capacity"]["work"] == pytest.approx(60 / 0.075 * 2)


def test_it_decides_otherwise_than_autoscale() -> None:
    """0.35 is medium for AUTOSCALE and low here; 1.04 means one more there, and nothing here."""
    low, beyond = working(100, [0.35] * 6, degree=10), working(100, [1.04] * 6, degree=10)
    assert (Autoscale().decide(low).plan["work"], Dabs().decide(low).plan["work"]) == (10, 4)
    assert (Autoscale().decide(beyond).plan["work"], Dabs().decide(beyond).plan["work"]) == (11, 10)


def test_a_parent_that_grows_takes_its_child_along() -> None:
    job = Topology(tuple(Operator(name, max=20) for name in ("parent", "child")), tuple(pairwise(("parent", "child"))))
    operators = {
        "parent": OperatorSample(1, 50, 50, 10.0, queue=0.0),
        "child": OperatorSample(1, 50, 50, 5.0, queue=0.0),
    }
    samples = [Sample(t=STEP * i, seconds=STEP, input_rate=20, operators=operators) for i in range(6)]
    decision = Dabs().decide(seen(job, Plan({"parent": 1, "child": 1}), samples))
    assert decision.figures["local_degree"] == {"parent": 4, "child": 1}
    assert decision.plan == Plan({"parent": 5, "child": 2})  # 1200 for 300 and 600 a window; 4 leave no CPU


def test_too_few_measurements_under_this_plan_are_none() -> None:
    assert Dabs().decide(working(100, [0.5] * 4, 1)).reason.code is ReasonCode.WARMING_UP
    assert Dabs().decide(working(100, [0.5] * 5, 1)).plan["work"] == 6


def test_a_change_loses_the_queues() -> None:
    assert POLICIES.load("dabs").actuation == "lossy_restart"
    assert POLICIES.load("autoscale").actuation == "restart"


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"low": 0.9}, "high must be between low"),
        ({"alpha": 1.0}, "alpha"),
        ({"slope": -1.0}, "slope"),
        ({"may_miss": -1}, "may_miss"),
        ({"window_seconds": 0.0}, "window_seconds"),
        ({"cpu_overcommit": 0.0}, "cpu_overcommit"),
    ],
)
def test_options_that_cannot_be_are_refused_by_name(options: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidValueError, match=field):
        POLICIES.create("dabs", options)
