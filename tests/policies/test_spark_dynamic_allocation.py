"""Spark's dynamic allocation: doubling while tasks wait, lowering immediately, releasing after a minute."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.control.think import think
from penstock.model import (
    Decision,
    Execution,
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
from penstock.policies import POLICIES, Learner
from penstock.policies.spark_dynamic_allocation import SparkDynamicAllocation

JOB = Topology((Operator("job"),))


class Driver:
    """Shows a policy one window after the other and puts its plans in force. A record takes 0.1 s."""

    def __init__(self, policy: SparkDynamicAllocation, executors: int = 1, seconds: float = 1.0) -> None:
        self.policy, self.seconds, self.t = policy, seconds, 0.0
        self.plan = Plan({"job": executors * policy.tasks_per_executor}, executors=executors)
        self.topology, self.execution = JOB, Execution.CONCURRENT

    def window(self, running: float, waiting: float = 0.0) -> Decision:
        """`running` slots busy all the time; work for so many slots and windows left waiting."""
        operator = OperatorSample(
            self.plan["job"], useful_seconds=running * self.seconds, records_in=10 * running * self.seconds,
            queue=10 * waiting * self.seconds,
        )  # fmt: skip
        sample = Sample(t=self.t, seconds=self.seconds, operators={"job": operator})
        self.t = sample.end
        observation = Observation(
            t=self.t, topology=self.topology, slo=Slo(), plan=self.plan, samples=(sample,), execution=self.execution
        )
        decision = think(self.policy, (), observation, fresh=1)
        self.plan = decision.plan
        return decision

    def executors(self, running: float, waiting: float = 0.0) -> int | None:
        return self.window(running, waiting).plan.executors


def test_executors_double_for_each_second_that_tasks_wait() -> None:
    driver = Driver(SparkDynamicAllocation())
    assert [driver.executors(running=1, waiting=60) for _ in range(6)] == [2, 4, 8, 16, 32, 61]


def test_growth_stops_at_what_all_tasks_could_fill_and_starts_again_from_one() -> None:
    driver = Driver(SparkDynamicAllocation())
    assert [driver.executors(1, waiting=9) for _ in range(5)] == [2, 4, 8, 10, 10]
    assert driver.executors(10, waiting=30) == 11


def test_a_queue_that_drains_resets_the_doubling() -> None:
    driver = Driver(SparkDynamicAllocation())
    assert [driver.executors(1, waiting=50) for _ in range(3)] == [2, 4, 8]
    assert driver.executors(8) == 8
    assert driver.executors(8, waiting=50) == 9


def test_a_target_that_was_lowered_grows_from_one_again_though_tasks_still_wait() -> None:
    driver = Driver(SparkDynamicAllocation())
    assert [driver.executors(1, waiting=50) for _ in range(3)] == [2, 4, 8]
    # 3 would do, but the others have not been idle for long.
    assert [driver.executors(1, waiting=2) for _ in range(3)] == [8, 8, 8]
    assert driver.executors(8, waiting=50) == 9  # and what is there is not asked for again


def test_rounds_that_passed_while_the_target_was_too_high_are_made_up_for_once() -> None:
    driver = Driver(SparkDynamicAllocation())
    assert [driver.executors(1, waiting=50) for _ in range(3)] == [2, 4, 8]
    driver.seconds = 3
    assert driver.executors(1, waiting=2) == 8
    driver.seconds = 1
    assert driver.executors(8, waiting=50) == 8 + 1 + 1  # one overdue, one due now


def test_a_slow_loop_sees_all_the_rounds_that_passed_within_its_window() -> None:
    driver = Driver(SparkDynamicAllocation(), seconds=3)
    assert driver.executors(1, waiting=50) == 8  # rounds after 1, 2 and 3 seconds: 1 + 1 + 2 + 4
    patient = SparkDynamicAllocation(scheduler_backlog_timeout=2, sustained_scheduler_backlog_timeout=10)
    driver = Driver(patient, seconds=3)
    assert [driver.executors(1, waiting=50) for _ in range(5)] == [2, 2, 2, 4, 4]  # after 2 and after 12 seconds


@pytest.mark.parametrize(
    ("slots", "ratio", "executors"), [(1, 1.0, 20), (1, 0.5, 10), (1, 1 / 3, 7), (4, 1.0, 5), (3, 0.5, 4)]
)
def test_the_target_is_the_tasks_times_the_ratio_over_the_slots_of_an_executor(
    slots: int, ratio: float, executors: int
) -> None:
    policy = SparkDynamicAllocation(tasks_per_executor=slots, executor_allocation_ratio=ratio)
    driver = Driver(policy, seconds=60)
    decision = driver.window(running=1, waiting=19)
    assert decision.figures["executors_needed"] == executors
    assert decision.plan == Plan({"job": executors * slots}, executors=executors)


def test_an_idle_executor_is_released_after_a_minute_and_not_before() -> None:
    driver = Driver(SparkDynamicAllocation(), executors=10, seconds=20)
    assert driver.executors(running=4) == 10
    assert driver.policy.state()["target"] == 4  # lowered immediately
    assert driver.executors(running=4) == 10
    assert driver.executors(running=4) == 4


def test_an_executor_that_was_busy_in_between_starts_its_minute_again() -> None:
    driver = Driver(SparkDynamicAllocation(), executors=10, seconds=20)
    seen = [driver.executors(running) for running in (4, 6, 4, 4, 4)]
    assert seen == [10, 10, 6, 6, 4]  # four were idle all along; the two others again since the third window


def test_a_surge_is_met_within_seconds_and_paid_for_a_minute_longer() -> None:
    driver = Driver(SparkDynamicAllocation(), executors=2, seconds=10)
    story = [(2, 0), (2, 30), (20, 5), (20, 0), (2, 0), (2, 0), (2, 0), (2, 0), (2, 0), (2, 0), (2, 0)]
    assert [driver.executors(running, waiting) for running, waiting in story] == [
        2,
        32,  # the whole surge in one window: ten rounds fit into the window
        32,
        32,
        32,  # the surge is over
        32,
        32,
        25,  # 20 run and 5 wait: seven have been idle for a minute
        20,  # none waits: five more have
        2,  # a minute after the surge
        2,
    ]


def test_min_and_max_are_kept() -> None:
    bounded = SparkDynamicAllocation(min_executors=3, max_executors=5)
    driver = Driver(bounded, executors=4, seconds=60)
    assert driver.executors(4, waiting=50) == 5
    assert [driver.executors(0) for _ in range(2)] == [3, 3]


def test_operators_in_turn_share_all_slots_and_operators_at_once_divide_them() -> None:
    topology = Topology((Operator("split"), Operator("count", max=3)), (("split", "count"),))
    operator = OperatorSample(2, useful_seconds=20, records_in=200, records_out=200, queue=100)
    sample = Sample(t=0, seconds=10, operators={"split": operator, "count": operator})
    observation = Observation(
        t=10, topology=topology, slo=Slo(), plan=Plan({"split": 2, "count": 2}), samples=(sample,)
    )
    at_once = think(SparkDynamicAllocation(), (), observation, fresh=1)
    assert at_once.figures["running_tasks"] == 4
    assert at_once.figures["pending_tasks"] == 2
    assert at_once.plan == Plan({"split": 3, "count": 3})
    in_turn = think(SparkDynamicAllocation(), (), replace(observation, execution=Execution.SEQUENTIAL), fresh=1)
    assert in_turn.figures["running_tasks"] == 2
    assert in_turn.figures["pending_tasks"] == 1
    assert in_turn.plan == Plan({"split": 3, "count": 3})


def test_at_once_the_idle_slots_of_one_operator_are_of_no_use_to_another() -> None:
    topology = Topology((Operator("split"), Operator("count")), (("split", "count"),))
    light = OperatorSample(4, useful_seconds=2, records_in=200, records_out=200, queue=0)
    heavy = OperatorSample(4, useful_seconds=40, records_in=200, queue=50)
    sample = Sample(t=0, seconds=10, operators={"split": light, "count": heavy})
    observation = Observation(
        t=10, topology=topology, slo=Slo(), plan=Plan({"split": 4, "count": 4}), samples=(sample,)
    )
    decision = think(SparkDynamicAllocation(), (), observation, fresh=1)
    assert decision.figures["executors_needed"] == 2 * (4 + 1)
    assert decision.plan == Plan({"split": 5, "count": 5})


def test_a_window_without_useful_time_holds_and_leaves_the_timers_alone() -> None:
    driver = Driver(SparkDynamicAllocation(), executors=4, seconds=20)
    driver.window(running=1)
    before = driver.policy.state()
    sample = Sample(t=20, seconds=20, operators={"job": OperatorSample(4, queue=5)})
    observation = Observation(t=40, topology=JOB, slo=Slo(), plan=driver.plan, samples=(sample,))
    held = think(driver.policy, (), observation, fresh=1)
    assert held.reason.code is ReasonCode.MISSING_METRICS
    assert "useful_seconds of job" in held.reason.text
    assert driver.policy.state() == before


def test_a_restarted_driver_goes_on_where_the_old_one_stopped() -> None:
    windows = [(1, 50), (2, 50), (4, 50), (4, 0), (1, 0), (1, 0), (3, 1), (1, 0), (1, 0), (1, 0), (1, 0)]
    whole = Driver(SparkDynamicAllocation(), seconds=15)
    uninterrupted = [whole.window(*window) for window in windows]
    for stop in range(len(windows)):
        first = Driver(SparkDynamicAllocation(), seconds=15)
        for window in windows[:stop]:
            first.window(*window)
        second = Driver(SparkDynamicAllocation(), seconds=15)
        second.policy.restore(json.loads(json.dumps(first.policy.state())))
        second.plan, second.t = first.plan, first.t
        assert [second.window(*window) for window in windows[stop:]] == uninterrupted[stop:]


def test_deciding_twice_changes_nothing() -> None:
    policy = POLICIES.create("spark_dynamic_allocation", {"tasks_per_executor": 2})
    assert isinstance(policy, Learner)
    operator = OperatorSample(2, useful_seconds=20, records_in=200, queue=900)
    sample = Sample(t=0, seconds=10, operators={"job": operator})
    observation = Observation(t=10, topology=JOB, slo=Slo(), plan=Plan({"job": 2}), samples=(sample,))
    policy.learn(observation)
    first, state = policy.decide(observation), policy.state()
    assert policy.decide(observation) == first
    assert policy.state() == state


@pytest.mark.parametrize(
    "options",
    [
        {"scheduler_backlog_timeout": 0.0},
        {"sustained_scheduler_backlog_timeout": -1.0},
        {"executor_idle_timeout": 0.0},
        {"executor_allocation_ratio": 1.5},
        {"tasks_per_executor": 0},
        {"min_executors": -1},
        {"min_executors": 5, "max_executors": 4},
    ],
)
def test_options_are_refused_by_name(options: dict[str, float]) -> None:
    with pytest.raises(InvalidValueError, match=f"{list(options)[-1]} must"):
        POLICIES.create("spark_dynamic_allocation", options)


@given(st.lists(st.tuples(st.floats(0.1, 30), st.floats(0, 100)), min_size=1, max_size=15), st.integers(1, 4))
def test_executors_stay_within_what_tasks_can_fill_or_what_was_there(
    windows: list[tuple[float, float]], slots: int
) -> None:
    driver = Driver(SparkDynamicAllocation(tasks_per_executor=slots, max_executors=20), seconds=15)
    for running, waiting in windows:
        before = driver.plan.executors or 0
        decision = driver.window(running, waiting)
        after = decision.plan.executors or 0
        assert 1 <= after <= 20
        assert after <= max(before, decision.figures["executors_needed"])
        assert after >= min(before, decision.figures["executors_needed"])
        assert driver.plan["job"] == min(100, after * slots)
