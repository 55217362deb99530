"""Spark Streaming's ratio rule, with the numbers of ExecutorAllocationManager."""

from __future__ import annotations

import json
from typing import Any

import pytest

from penstock.control.think import think
from penstock.model import (
    Decision,
    InvalidValueError,
    Observation,
    Operator,
    OperatorSample,
    Plan,
    Sample,
    Slo,
    Topology,
)
from penstock.policies import POLICIES
from penstock.policies.dstreams import Dstreams
from strategies import LinearJob

JOB = Topology((Operator("job"),))


class Application:
    """Shows the rule one window after the other and puts its plans in force. One slot processes 100 records/s."""

    def __init__(self, executors: int, seconds: float = 60.0, **options: Any) -> None:
        self.policy = Dstreams(**options)
        self.plan = Plan({"job": executors * self.policy.tasks_per_executor})
        self.seconds, self.t = seconds, 0.0

    def window(self, ratio: float) -> Decision:
        """A window in which a batch of one interval would take `ratio` of it."""
        k = self.plan["job"]
        rate = 100 * k * ratio
        done = min(rate, 100 * k) * self.seconds
        operator = OperatorSample(k, records_in=done, records_out=done, useful_seconds=done / 100)
        sample = Sample(t=self.t, seconds=self.seconds, operators={"job": operator}, input_rate=rate)
        self.t = sample.end
        observation = Observation(t=self.t, topology=JOB, slo=Slo(), plan=self.plan, samples=(sample,))
        decision = think(self.policy, (), observation, fresh=1)
        self.plan = decision.plan
        return decision

    def at(self, ratio: float) -> int:
        return self.window(ratio).plan["job"]


@pytest.mark.parametrize(
    ("ratio", "executors"),
    [(0.89, 10), (0.9, 11), (1.0, 11), (1.49, 11), (1.5, 12), (2.4, 12), (5.5, 16), (0.31, 10), (0.3, 9), (0.01, 9)],
)
def test_the_ratio_says_how_many_are_added_and_one_is_killed_at_a_time(ratio: float, executors: int) -> None:
    assert Application(10).at(ratio) == executors


def test_nothing_happens_before_the_scaling_interval_has_passed() -> None:
    application = Application(10, seconds=20)
    assert [application.at(2.0) for _ in range(7)] == [10, 10, 12, 12, 12, 14, 14]


def test_the_batches_of_an_interval_are_averaged() -> None:
    application = Application(10, seconds=20)
    assert [application.at(ratio) for ratio in (0.2, 0.2, 2.0)] == [10, 10, 10]  # 0.8
    assert [application.at(ratio) for ratio in (0.4, 0.8, 1.8)] == [10, 10, 11]  # 1.0


def test_several_windows_that_are_seen_together_decide_once() -> None:
    policy, plan = Dstreams(), Plan({"job": 10})
    operator = OperatorSample(10, records_in=60_000, records_out=60_000, useful_seconds=600)
    samples = tuple(Sample(t=60 * i, seconds=60, operators={"job": operator}, input_rate=2000) for i in range(2))
    observation = Observation(t=120, topology=JOB, slo=Slo(), plan=plan, samples=samples)
    assert think(policy, (), observation, fresh=2).plan == Plan({"job": 12})
    assert think(policy, (), observation, fresh=0).plan == Plan({"job": 12})  # to ask again changes nothing


def test_executors_stay_within_their_limits() -> None:
    assert Application(10, max_executors=12).at(6.0) == 12
    assert Application(3, min_executors=3).at(0.1) == 3


def test_an_executor_brings_all_its_slots() -> None:
    assert Application(2, tasks_per_executor=4).at(1.0) == 12


def test_the_slowest_operator_counts_and_all_get_the_same() -> None:
    topology = Topology.chain("read", "count")
    job = LinearJob(topology, {"read": 200, "count": 50}, {"read": 1.0, "count": 1.0}, input_rate=190)
    plan = Plan({"read": 4, "count": 4})
    decision = think(Dstreams(), (), job.observe(plan, [job.respond(plan)]), fresh=1)
    assert decision.figures["ratio"] == pytest.approx({"read": 0.2375, "count": 0.95})
    assert decision.plan == Plan({"read": 5, "count": 5})


def test_a_constant_load_comes_to_rest() -> None:
    topology = Topology.chain("read", "count")
    job = LinearJob(topology, {"read": 200, "count": 50}, {"read": 1.0, "count": 1.0}, input_rate=500)
    policy, plan = Dstreams(), Plan({"read": 1, "count": 1})
    samples: list[Sample] = []
    trail = []
    for _ in range(12):
        samples.append(job.respond(plan, samples[-1] if samples else None))
        plan = think(policy, (), job.observe(plan, samples), fresh=1).plan
        trail.append(plan["count"])
    assert trail == [11, 12] + 10 * [12]


def test_it_goes_on_where_it_stopped() -> None:
    application = Application(10, seconds=20)
    application.at(2.0)
    application.at(2.0)
    twin = Application(10, seconds=20)
    twin.policy.restore(json.loads(json.dumps(application.policy.state())))
    twin.t = application.t
    assert twin.at(2.0) == application.at(2.0) == 12


def test_a_ratio_that_adds_must_be_above_the_one_that_kills() -> None:
    with pytest.raises(InvalidValueError, match=r"scaling_down_ratio must be between 0 and scaling_up_ratio \(0.2\)"):
        POLICIES.create("dstreams", {"scaling_up_ratio": 0.2})
