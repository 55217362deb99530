"""Kubernetes' horizontal autoscaler: its documented examples, and each of its rules."""

from __future__ import annotations

import json
from typing import Any

import pytest

from penstock.control.think import think
from penstock.model import InvalidValueError, Observation, Operator, OperatorSample, Plan, Sample, Slo, Topology
from penstock.policies import POLICIES
from penstock.policies._replicas import limit
from penstock.policies.hpa import Hpa

JOB = Topology((Operator("job", max=1000),))


class Cluster:
    """Shows an autoscaler one window after the other and puts its plans in force."""

    def __init__(self, replicas: int, seconds: float = 15.0, **options: Any) -> None:
        self.policy = Hpa(**options)
        self.plan, self.seconds, self.t = Plan({"job": replicas}), seconds, 0.0

    def at(self, percent: float) -> int:
        """The replicas after a window in which all together used so much of their CPU."""
        k = self.plan["job"]
        operator = OperatorSample(k, useful_seconds=k * self.seconds * percent / 100)
        sample = Sample(t=self.t, seconds=self.seconds, operators={"job": operator})
        self.t = sample.end
        observation = Observation(t=self.t, topology=JOB, slo=Slo(), plan=self.plan, samples=(sample,))
        self.plan = think(self.policy, (), observation, fresh=1).plan
        return self.plan["job"]


@pytest.mark.parametrize(
    ("replicas", "target", "percent", "expected"),
    [
        (50, 75, 90, 60),  # the example of the announcement of configurable tolerance, Kubernetes 1.33
        (10, 50, 100, 20),  # "200m where 100m are desired": twice as many
        (3, 30, 50, 5),  # replica_calculator_test.go, TestReplicaCalcScaleUp: 300, 500 and 700 of 1000 each
    ],
)
def test_replicas_follow_the_ratio_of_use_to_target(replicas: int, target: int, percent: float, expected: int) -> None:
    assert Cluster(replicas, average_utilization=target).at(percent) == expected


@pytest.mark.parametrize(
    ("replicas", "target", "percent", "expected"),
    [
        (10, 50, 25, 5),  # "50m where 100m are desired": half as many
        (5, 50, 28, 3),  # TestReplicaCalcScaleDown: 100, 300, 500, 250 and 250 of 1000 each
    ],
)
def test_fewer_are_kept_where_less_is_used(replicas: int, target: int, percent: float, expected: int) -> None:
    cluster = Cluster(replicas, average_utilization=target, scale_down_stabilization_window_seconds=0)
    assert cluster.at(percent) == expected


def test_without_a_metric_the_target_is_80_percent() -> None:
    assert Cluster(8).at(100) == 10


@pytest.mark.parametrize(("percent", "expected"), [(88, 100), (89, 112), (72, 100), (71, 89)])
def test_a_use_within_a_tenth_of_the_target_changes_nothing(percent: float, expected: int) -> None:
    assert Cluster(100, scale_down_stabilization_window_seconds=0).at(percent) == expected


def test_each_direction_may_have_a_tolerance_of_its_own() -> None:
    options = {"scale_down_stabilization_window_seconds": 0, "scale_up_tolerance": 0.0, "scale_down_tolerance": 0.2}
    assert Cluster(100, **options).at(81) == 102
    assert Cluster(100, **options).at(64) == 100
    assert Cluster(100, **options).at(63) == 79


def test_the_use_counts_in_whole_percents() -> None:
    assert Cluster(100).at(88.9) == 100  # counted as 88: within the tolerance


def test_it_shrinks_to_the_most_that_was_recommended_in_five_minutes() -> None:
    cluster = Cluster(100, seconds=60)
    # What runs when it is first seen counts as recommended then, after a minute.
    assert [cluster.at(percent) for percent in (60, 40, 20, 20, 20)] == [100] * 5
    assert [cluster.at(20) for _ in range(2)] == [50, 25]  # recommended after the second minute and the third


def test_it_grows_to_the_least_that_was_recommended_while_growth_is_stabilised() -> None:
    cluster = Cluster(10, seconds=60, scale_up_stabilization_window_seconds=120)
    assert [cluster.at(percent) for percent in (80, 100, 96, 96)] == [10, 10, 12, 12]


def test_it_at_most_doubles_or_adds_four_within_15_seconds() -> None:
    assert [Cluster(k, average_utilization=10).at(100) for k in (1, 3, 4, 10)] == [5, 7, 8, 20]


def test_what_was_added_within_the_period_counts_against_the_limit() -> None:
    cluster = Cluster(10, seconds=10, average_utilization=10)
    assert [cluster.at(100) for _ in range(3)] == [20, 20, 40]  # after 10, 20 and 30 s: the period is 15 s


def test_the_policy_that_changes_most_counts_or_the_one_that_changes_least_or_none() -> None:
    # The example of the documentation: 4 pods or 10 % a minute; above 40 replicas the percentage is more.
    both = (("Pods", 4, 60.0), ("Percent", 10, 60.0))
    assert [limit(both, "Max", k, (), 0.0, up=False) for k in (80, 72, 30)] == [72, 64, 26]
    assert [limit(both, "Min", k, (), 0.0, up=False) for k in (80, 72, 30)] == [76, 68, 27]
    assert limit(both, "Disabled", 80, (), 0.0, up=False) == 80
    assert Cluster(10, scale_up_select_policy="Disabled").at(100) == 10


def test_shrinking_is_limited_too() -> None:
    options = {"scale_down_stabilization_window_seconds": 0, "scale_down_policies": (("Pods", 5, 60.0),)}
    cluster = Cluster(80, seconds=30, **options)
    assert [cluster.at(10) for _ in range(4)] == [75, 75, 70, 70]


def test_operators_are_sized_apart() -> None:
    topology = Topology.chain("read", "count")
    sample = Sample(t=0, seconds=10, operators={
        "read": OperatorSample(2, useful_seconds=20), "count": OperatorSample(4, useful_seconds=32),
    })  # fmt: skip
    plan = Plan({"read": 2, "count": 4})
    decision = Hpa().decide(Observation(t=10, topology=topology, slo=Slo(), plan=plan, samples=(sample,)))
    assert decision.plan == Plan({"read": 3, "count": 4})
    assert decision.figures["utilization"] == {"read": 100, "count": 80}


def test_it_goes_on_where_it_stopped() -> None:
    cluster = Cluster(100, seconds=60)
    for percent in (60, 40, 20):
        cluster.at(percent)
    twin = Cluster(cluster.plan["job"], seconds=60)
    twin.policy.restore(json.loads(json.dumps(cluster.policy.state())))
    twin.t = cluster.t
    assert [twin.at(20) for _ in range(5)] == [cluster.at(20) for _ in range(5)]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"average_utilization": 0}, "average_utilization must be at least 1, not 0"),
        ({"scale_up_select_policy": "max"}, "scale_up_select_policy 'max' is not known; did you mean 'Max'?"),
        ({"scale_up_policies": []}, "scale_up_policies must hold at least one policy"),
        ({"scale_down_policies": [["Pod", 1, 1]]}, "scale_down_policies: kind 'Pod' is not known"),
    ],
)
def test_what_cannot_be_is_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidValueError) as refused:
        POLICIES.create("hpa", options)
    assert str(refused.value).startswith(sentence)
