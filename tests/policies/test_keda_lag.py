"""KEDA's Kafka scaler: the examples of its documentation and the quotients of its code."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.control.think import think
from penstock.model import Decision, Observation, Operator, OperatorSample, Plan, Sample, Slo, Topology
from penstock.policies.keda_lag import KedaLag

AT_ONCE: dict[str, Any] = {
    "scale_up_policies": (("Pods", 1000, 15.0),), "scale_down_stabilization_window_seconds": 0.0,
}  # fmt: skip


def decide(policy: KedaLag, lag: float, replicas: int = 1, partitions: int | None = None, t: float = 0.0) -> Decision:
    job = Topology((Operator("read"), Operator("count")), (("read", "count"),), partitions)
    operators = {name: OperatorSample(replicas) for name in job.names}
    sample = Sample(t=t, seconds=15, operators=operators, backlog=lag, input_rate=100)
    plan = Plan(dict.fromkeys(job.names, replicas))
    return think(policy, (), Observation(t=t + 15, topology=job, slo=Slo(), plan=plan, samples=(sample,)), fresh=1)


def replicas(decision: Decision) -> int:
    """Of the operator behind the source, which has no partitions."""
    return decision.plan["count"]


@pytest.mark.parametrize(("lag", "expected"), [(0, 1), (1, 1), (10, 1), (11, 1), (12, 2), (25, 3), (95, 10)])
def test_one_replica_for_every_ten_records(lag: float, expected: int) -> None:
    assert replicas(decide(KedaLag(**AT_ONCE), lag)) == expected  # 11 are within a tenth of the target for one


def test_the_threshold_is_an_option() -> None:
    assert replicas(decide(KedaLag(lag_threshold=50, **AT_ONCE), lag=240)) == 5


def test_the_number_of_kubernetes_own_test() -> None:
    # replica_calculator_test.go, TestReplicaCalcScaleUpPerPodCMExternal
    assert replicas(decide(KedaLag(lag_threshold=2150, **AT_ONCE), lag=8600, replicas=3)) == 4


@pytest.mark.parametrize(("lag", "expected"), [(25, 3), (35, 4), (39, 4), (40, 3), (10_000, 3)])
def test_partitions_cap_the_lag_by_whole_quotients(lag: float, expected: int) -> None:
    decision = decide(KedaLag(**AT_ONCE), lag, partitions=3)
    assert replicas(decision) == expected
    assert decision.plan["read"] == 3  # a reader without a partition has nothing to do


def test_idle_consumers_lift_the_cap() -> None:
    assert replicas(decide(KedaLag(allow_idle_consumers=True, **AT_ONCE), lag=70, partitions=3)) == 7


@pytest.mark.parametrize(
    ("lag", "expected"), [(1, 1), (10, 1), (11, 2), (20, 2), (21, 5), (50, 5), (51, 10), (999, 10)]
)
def test_an_even_distribution_takes_the_next_number_that_divides_the_partitions(lag: float, expected: int) -> None:
    # The example of the documentation: 10 partitions, a threshold of 10.
    policy = KedaLag(ensure_even_distribution_of_partitions=True, **AT_ONCE)
    assert replicas(decide(policy, lag, partitions=10)) == expected


def test_the_replicas_pass_the_rules_of_the_autoscaler() -> None:
    policy = KedaLag()
    assert [replicas(decide(policy, lag=1000, replicas=k, t=15.0 * i)) for i, k in enumerate((1, 5, 10))] == [5, 10, 20]
    assert replicas(decide(policy, lag=0, replicas=20, t=60)) == 20  # 100 were recommended less than five minutes ago
    assert replicas(decide(policy, lag=0, replicas=20, t=345)) == 1


def test_records_that_a_pushing_source_left_in_the_queue_of_a_root_count() -> None:
    job = Topology.chain("read", "count")
    operators = {"read": OperatorSample(1, queue=30), "count": OperatorSample(1, queue=500)}
    sample = Sample(t=0, seconds=15, operators=operators, input_rate=100)
    observation = Observation(t=15, topology=job, slo=Slo(), plan=Plan({"read": 1, "count": 1}), samples=(sample,))
    assert KedaLag(**AT_ONCE).decide(observation).plan == Plan({"read": 3, "count": 3})
