"""Flink's autoscaler: the numbers of its own tests, and each of its rules."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
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
from penstock.policies._flink_metrics import Targets, evaluate
from penstock.policies.flink_autoscaler import FlinkAutoscaler
from strategies import LinearJob

AT_ONCE: dict[str, Any] = {
    "metrics_window": 1, "stabilization_interval": 0, "catch_up_duration": 0, "scale_down_interval": 0,
    "scale_down_max_factor": 1.0, "scale_up_max_factor": float(2**31),
}  # fmt: skip
"""What JobVertexScalerTest sets, and a window that is full after a second."""


class Vertex:
    """A source of which a policy sees one window of a second after the other, as `evaluated` of JobVertexScalerTest."""

    def __init__(self, operator: Operator | None = None, partitions: int | None = None, **options: Any) -> None:
        self.topology = Topology((operator or Operator("v", max=720),), (), partitions)
        self.policy, self.t = FlinkAutoscaler(**{**AT_ONCE, **options}), 0.0

    def decide(
        self, parallelism: int, target_rate: float, true_rate: float, lag: float = 0.0, at: float | None = None
    ) -> Decision:
        rate = min(target_rate, true_rate)
        operator = OperatorSample(parallelism, records_in=rate, useful_seconds=parallelism * rate / true_rate)
        self.t = self.t + 1 if at is None else at
        sample = Sample(t=self.t, seconds=1, operators={"v": operator}, input_rate=target_rate, backlog=lag)
        plan = Plan({"v": parallelism})
        observation = Observation(t=sample.end, topology=self.topology, slo=Slo(), plan=plan, samples=(sample,))
        return think(self.policy, (), observation, fresh=1)

    def to(
        self, parallelism: int, target_rate: float, true_rate: float, lag: float = 0.0, at: float | None = None
    ) -> int:
        return self.decide(parallelism, target_rate, true_rate, lag, at).plan["v"]

    def recommended(self, parallelism: int, target_rate: float, true_rate: float) -> int:
        """What it should have, within the bounds or not."""
        figures = self.decide(parallelism, target_rate, true_rate).figures
        recommended: int = figures["recommended_parallelism"]["v"]
        return recommended


@pytest.mark.parametrize(
    ("utilization", "parallelism", "target_rate", "true_rate", "expected"),
    [
        (1.0, 10, 50, 100, 5), (0.8, 10, 50, 100, 7), (0.8, 10, 80, 100, 10), (0.8, 10, 60, 100, 8),
        (0.8, 10, 59, 100, 8), (0.5, 2, 100, 40, 10), (0.6, 2, 100, 100, 4),
    ],
)  # fmt: skip
def test_parallelism_follows_the_target_utilisation(
    utilization: float, parallelism: int, target_rate: float, true_rate: float, expected: int
) -> None:
    # testParallelismScaling
    vertex = Vertex(utilization_target=utilization)
    assert vertex.recommended(parallelism, target_rate, true_rate) == expected


def test_a_step_is_limited_in_both_directions() -> None:
    # testParallelismScaling
    assert [Vertex(utilization_target=1.0, scale_down_max_factor=f).to(10, 10, 100) for f in (0.5, 0.6)] == [5, 4]
    assert [Vertex(utilization_target=1.0, scale_up_max_factor=f).to(10, 200, 10) for f in (0.5, 0.6)] == [15, 16]


def test_the_limits_of_parallelism_never_force_a_change() -> None:
    # testMinParallelismLimitIsUsed, testMaxParallelismLimitIsUsed
    least = Vertex(vertex_min_parallelism=5)
    assert (least.to(10, 100, 500), least.to(4, 100, 500)) == (5, 4)
    most = Vertex(vertex_max_parallelism=10, utilization_target=1.0)
    assert (most.to(10, 500, 100), most.to(12, 500, 100)) == (10, 12)
    assert most.to(8, 500, 100) == 10


def test_shrinking_waits_for_its_interval_and_takes_the_most_that_was_wanted() -> None:
    # testScaleDownAfterInterval
    vertex = Vertex(utilization_target=1.0, scale_down_interval=60)
    for at, rate in ((0, 800), (10, 900), (40, 720), (59, 640)):
        assert vertex.to(100, rate, 1000, at=at) == 100
    assert vertex.to(100, 700, 1000, at=60) == 100  # 90 were wanted, which is within the bounds
    figures = Vertex(utilization_target=1.0, scale_down_interval=60, utilization_min=0.95)
    for at, rate in ((0, 800), (10, 900), (40, 720), (59, 640)):
        assert figures.to(100, rate, 1000, at=at) == 100
    assert figures.to(100, 700, 1000, at=60) == 90
    assert figures.to(100, 700, 1000, at=71) == 72  # the 90 of the eleventh second are too old by now


def test_growth_ends_the_wait_and_so_does_a_rate_that_fits() -> None:
    # testImmediateScaleUpWithinScaleDownInterval, testCancelDelayedScaleDownAfterNewParallelismIsSame
    for rate in (1700, 1000):
        vertex = Vertex(utilization_target=1.0, scale_down_interval=60, utilization_min=0.95)
        assert vertex.to(100, 800, 1000, at=0) == 100
        assert vertex.to(100, rate, 1000, at=12) == rate // 10
        assert vertex.to(100, 800, 1000, at=65) == 100  # it waits from here on
        assert vertex.to(100, 800, 1000, at=125) == 80


def test_a_change_begins_the_wait_anew() -> None:
    vertex = Vertex(utilization_target=1.0, scale_down_interval=60, utilization_min=0.95)
    assert vertex.to(100, 800, 1000, at=0) == 100
    assert vertex.to(90, 800, 900, at=30) == 90  # somebody changed it by hand
    assert [vertex.to(90, 800, 900, at=at) for at in (60, 89, 90)] == [90, 90, 80]


def test_growth_that_brought_little_ends_growth_where_that_is_detected() -> None:
    # testIneffectiveScalingDetection
    vertex = Vertex(utilization_target=1.0, scaling_effectiveness_detection_enabled=True)
    assert vertex.to(5, 100, 50) == 10
    assert vertex.to(10, 180, 90) == 20  # 80 % of what was expected
    assert vertex.to(20, 180, 94) == 20  # less than 5 %: 94 instead of 180
    assert vertex.to(20, 180, 98) == 20  # less than 10 %
    assert vertex.to(10, 180, 90) == 20  # somebody changed it by hand
    assert vertex.to(20, 180, 100) == 36  # more than 10 %
    assert vertex.to(20, 45, 90) == 10  # it may always shrink


def test_growth_to_another_parallelism_says_nothing_of_this_one() -> None:
    options: dict[str, Any] = {"scaling_effectiveness_detection_enabled": True, "stabilization_interval": 5}
    vertex = Vertex(utilization_target=1.0, **options)
    vertex.to(10, 180, 90, at=0)
    assert vertex.to(10, 180, 90, at=10) == 20
    vertex.to(20, 180, 94, at=11)
    vertex.to(15, 180, 94, at=12)  # changed by hand before the window was full
    vertex.to(15, 180, 94, at=17)
    assert vertex.to(15, 180, 94, at=18) == 29


def test_growth_of_yesterday_is_forgotten() -> None:
    for at, expected in ((86_401, 20), (86_402, 39)):  # after exactly a day, and after more
        vertex = Vertex(utilization_target=1.0, scaling_effectiveness_detection_enabled=True)
        assert vertex.to(10, 180, 90, at=0) == 20
        assert vertex.to(20, 180, 94, at=1) == 20
        assert vertex.to(20, 180, 94, at=at) == expected


def test_by_default_growth_goes_on() -> None:
    vertex = Vertex(utilization_target=1.0)
    assert [vertex.to(10, 180, 90), vertex.to(20, 180, 94), vertex.to(20, 180, 90)] == [20, 39, 40]


@pytest.mark.parametrize(
    ("observed", "expected"),
    [(((4, 200), (2, 100), (8, 400)), 10), (((4, 160), (2, 96), (8, 240)), 15)],
)
def test_rates_that_grow_less_than_parallelism_ask_for_more(
    observed: tuple[tuple[int, float], ...], expected: int
) -> None:
    # testParallelismScalingWithObservedScalingCoefficient
    vertex = Vertex(Operator("v", max=720, stateful=True), utilization_target=0.5, observed_scalability_enabled=True)
    for parallelism, rate in observed:
        vertex.to(parallelism, 1.0, rate)
    assert vertex.to(2, 100, 40) == expected


def test_fewer_rescalings_than_needed_show_no_coefficient() -> None:
    vertex = Vertex(utilization_target=0.5, observed_scalability_enabled=True)
    vertex.to(4, 1.0, 160)
    vertex.to(8, 1.0, 240)
    assert vertex.to(2, 100, 40) == 10


@pytest.mark.parametrize(
    ("current", "factor", "most", "mode", "expected"),
    [
        (6, 0.8, 36, "EVENLY_SPREAD", 6), (16, 1.5, 128, "EVENLY_SPREAD", 32), (200, 1.3, 720, "EVENLY_SPREAD", 360),
        (10, 2.5, 128, "EVENLY_SPREAD", 32), (10, 2.5, 128, "MAXIMIZE_UTILISATION", 26),
    ],
)  # fmt: skip
def test_a_keyed_vertex_gets_a_number_that_divides_its_key_groups(
    current: int, factor: float, most: int, mode: str, expected: int
) -> None:
    # testParallelismComputationWithAdjustment
    vertex = Vertex(
        Operator("v", max=most, stateful=True), utilization_target=1.0, utilization_min=1.0, vertex_max_parallelism=999,
        scaling_key_group_partitions_adjust_mode=mode,
    )  # fmt: skip
    assert vertex.to(current, 1000 * factor, 1000) == expected
    free = Vertex(Operator("v", max=most), utilization_target=1.0, utilization_min=1.0, vertex_max_parallelism=999)
    assert free.to(current, 1000 * factor, 1000) == math.ceil(current * factor)


@pytest.mark.parametrize(
    ("current", "factor", "partitions", "most", "expected"),
    [(6, 0.4, 15, 128, 3), (7, 1.2, 15, 128, 15), (10, 2.0, 15, 128, 15), (80, 1.4, 200, 128, 100)],
)
def test_a_source_gets_a_number_that_divides_its_partitions(
    current: int, factor: float, partitions: int, most: int, expected: int
) -> None:
    # testNumPartitionsAdjustment, testSendingScalingLimitedEvents
    vertex = Vertex(Operator("v", max=most), partitions, utilization_target=1.0, vertex_max_parallelism=999)
    assert vertex.to(current, 1000 * factor, 1000) == expected


@pytest.mark.parametrize(
    ("catch_up", "lag_rate", "behind", "thresholds"),
    [
        (0.0, 0, False, (778, 1000)), (2.0, 350, False, (1128, 1700)), (2.0, 0, False, (778, 1350)),
        (2.0, 350, True, (1050, math.inf)), (2.0, 0, True, (700, math.inf)),
    ],
)  # fmt: skip
def test_the_thresholds_hold_lag_restart_and_utilisation(
    catch_up: float, lag_rate: float, behind: bool, thresholds: tuple[float, float]
) -> None:
    # ScalingMetricEvaluatorTest, testUtilizationBoundaryComputation: target 0.8 with a boundary of 0.1, restart 1 s
    targets = Targets(catch_up, 1.0, 0.9, 0.7, 300.0, 30.0, 0.15, 2)
    upper, lower = (1.0, 0.0) if behind else (0.9, 0.7)
    assert targets.capacity(700, lag_rate, upper, restart=False) == thresholds[0]
    assert targets.capacity(700, lag_rate, lower, restart=True) == thresholds[1]


def test_lag_and_a_restart_must_be_worked_off_in_time() -> None:
    # 100 / 0.7, 90,000 records in 1800 s and 100 * 300 / 1800: 143 + 50 + 17 records/s at 10 each.
    vertex = Vertex(catch_up_duration=1800)
    assert vertex.to(5, 100, 50, lag=90_000) == 21
    assert Vertex(catch_up_duration=1800).to(5, 100, 50) == 16
    assert Vertex(catch_up_duration=1800, restart_time=0.0).to(5, 100, 50) == 15


def test_within_the_bounds_nothing_changes() -> None:
    assert [Vertex(utilization_target=0.7).to(10, rate, 100) for rate in (39, 40, 99, 101)] == [6, 10, 10, 15]
    narrow: dict[str, Any] = {"utilization_target": 0.7, "utilization_max": 0.8, "utilization_min": 0.6}
    assert [Vertex(**narrow).to(10, rate, 100) for rate in (59, 60, 80, 81)] == [9, 10, 10, 12]


def test_nothing_shrinks_while_a_large_lag_is_worked_off() -> None:
    assert Vertex().to(10, 10, 100, lag=2_000) == 2  # 200 s of what it processes
    assert Vertex().to(10, 10, 100, lag=4_000) == 10


def test_without_records_it_shrinks_as_far_as_it_may() -> None:
    assert Vertex(scale_down_max_factor=0.6).to(10, 0, 100) == 4


def test_where_nothing_comes_nothing_goes_on() -> None:
    line = Topology.chain("read", "count")
    idle, plan = job({"read": 100, "count": 50}, 0, line), Plan({"read": 10, "count": 20})
    policy = FlinkAutoscaler(**{**AT_ONCE, "metrics_window": 60, "scale_down_max_factor": 0.6})
    decision = think(policy, (), idle.observe(plan, [idle.respond(plan)]), fresh=1)
    assert decision.plan == Plan({"read": 4, "count": 8})
    assert decision.figures["true_processing_rate"] == {"read": None, "count": None}


def job(rates: dict[str, float], input_rate: float, topology: Topology, **selectivity: float) -> LinearJob:
    return LinearJob(topology, rates, {name: selectivity.get(name, 1.0) for name in topology.names}, input_rate)


def steer(policy: FlinkAutoscaler, jobs: Sequence[LinearJob], plan: Plan) -> list[Plan]:
    """The plans of some cycles, in each of which the job is the next one."""
    samples: list[Sample] = []
    trail = []
    for job in jobs:
        samples.append(job.respond(plan, samples[-1] if samples else None))
        plan = think(policy, (), job.observe(plan, samples[-30:]), fresh=1).plan
        trail.append(plan)
    return trail


def test_it_waits_until_the_job_is_stable_and_the_window_full() -> None:
    line = Topology.chain("read", "count")
    before, after = (job({"read": 100, "count": 50}, rate, line) for rate in (200, 900))
    trail = steer(FlinkAutoscaler(), 20 * [before] + 25 * [after], Plan({"read": 1, "count": 1}))
    moves = [minute + 1 for minute in range(1, len(trail)) if trail[minute] != trail[minute - 1]]
    assert moves == [20, 40]  # five minutes and fifteen, after the start and after a change


def test_target_rates_walk_the_graph() -> None:
    diamond = Topology(
        tuple(Operator(name) for name in ("read", "left", "right", "join")),
        (("read", "left"), ("read", "right"), ("left", "join"), ("right", "join")),
    )
    made = job({"read": 100, "left": 100, "right": 100, "join": 100}, 50, diamond, read=2.0, left=0.5)
    plan = Plan({"read": 1, "left": 2, "right": 2, "join": 2})
    sample = made.respond(plan)
    targets = Targets(1800.0, 300.0, 1.0, 0.4, 300.0, 30.0, 0.15, 2)
    vertices = evaluate(made.observe(plan, [sample]), (sample,), targets)
    assert {name: vertex.target_data_rate for name, vertex in vertices.items()} == pytest.approx(
        {"read": 50, "left": 100, "right": 100, "join": 150}
    )
    assert {name: vertex.true_processing_rate for name, vertex in vertices.items()} == pytest.approx(
        {"read": 100, "left": 200, "right": 200, "join": 200}
    )


def test_one_vertex_outside_its_bounds_changes_all_that_should_change() -> None:
    line = Topology.chain("read", "count")
    options = {**AT_ONCE, "metrics_window": 60, "utilization_target": 0.7}
    calm = job({"read": 100, "count": 100}, 80, line)
    plan = Plan({"read": 1, "count": 1})
    sample = calm.respond(plan)
    decision = think(FlinkAutoscaler(**options), (), calm.observe(plan, [sample]), fresh=1)
    assert (decision.plan, decision.figures["recommended_parallelism"]) == (plan, {"read": 2, "count": 2})
    full = job({"read": 100, "count": 50}, 80, line)
    sample = full.respond(plan)
    decision = think(FlinkAutoscaler(**options), (), full.observe(plan, [sample]), fresh=1)
    assert (decision.plan, decision.figures["outside_bounds"]) == (Plan({"read": 2, "count": 3}), ["count"])
    policy = FlinkAutoscaler(**options, vertex_exclude_ids=("read",))
    assert think(policy, (), full.observe(plan, [sample]), fresh=1).plan == Plan({"read": 1, "count": 3})


def catching_up(busy: float, waiting: float, lag: float) -> list[Sample]:
    """Two minutes of a source that processes 100 records/s."""
    operator = OperatorSample(1, records_in=6000, useful_seconds=60 * busy, waiting_seconds=60 * waiting)
    return [
        Sample(t=60 * i, seconds=60, operators={"v": operator}, input_rate=100, backlog=lag) for i in range(2)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("busy", "lag", "expected"),
    [
        (
            0.5,
            3_000,
            100,
        ),  # it did not wait: 100 records/s are all it can do, whatever its busy time says
        (0.5, 2_999, 200),  # less than 30 s of lag show nothing
        (0.9, 3_000, 111),  # 11 % off is not worth the switch
    ],
)
def test_a_source_that_catches_up_shows_what_it_can_do(busy: float, lag: float, expected: float) -> None:
    samples = catching_up(busy, waiting=0.0, lag=lag)
    observation = Observation(
        t=120, topology=Topology((Operator("v"),)), slo=Slo(), plan=Plan({"v": 1}), samples=tuple(samples)
    )
    targets = Targets(1800.0, 300.0, 1.0, 0.4, 300.0, 30.0, 0.15, 2)
    assert evaluate(observation, samples, targets)["v"].true_processing_rate == pytest.approx(expected, rel=0.01)


def test_it_goes_on_where_it_stopped() -> None:
    line = Topology.chain("read", "count")
    made, plan = job({"read": 100, "count": 50}, 200, line), Plan({"read": 1, "count": 1})
    policy = FlinkAutoscaler()
    trail = steer(policy, 30 * [made], plan)
    state = json.loads(json.dumps(policy.state()))
    twin = FlinkAutoscaler()
    twin.restore(state)
    assert twin.state() == policy.state() == state
    assert state["history"]["count"][0][1:3] == [1, trail[-1]["count"]]


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="utilization_target must be more than 0 and at most 1, not 0"):
        POLICIES.create("flink_autoscaler", {"utilization_target": 0})
    with pytest.raises(InvalidValueError, match="'EVENLY' is not known; did you mean 'EVENLY_SPREAD'"):
        POLICIES.create("flink_autoscaler", {"scaling_key_group_partitions_adjust_mode": "EVENLY"})
    with pytest.raises(InvalidValueError, match="vertex_max_parallelism must be a whole number of at least 5, not 4"):
        POLICIES.create("flink_autoscaler", {"vertex_min_parallelism": 5, "vertex_max_parallelism": 4})
