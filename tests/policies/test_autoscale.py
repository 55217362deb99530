"""AUTOSCALE decides with every measurement; a small fluid job shows what its decisions do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import pytest

from penstock.model import (
    Cycle,
    Decision,
    InvalidValueError,
    MissingFigureError,
    Mode,
    Observation,
    Operator,
    OperatorSample,
    Plan,
    ReasonCode,
    Sample,
    Slo,
    Topology,
    Worker,
)
from penstock.policies import POLICIES
from penstock.policies.autoscale import Autoscale

STEP = 10.0


def chain(*operators: Operator) -> Topology:
    return Topology(operators, tuple(pairwise(operator.name for operator in operators)))


LINEAR = chain(Operator("first", max=8), Operator("second", max=8), Operator("sink", max=8))
LATENCY = {"first": 0.002, "second": 0.002, "sink": 0.080}
ALONE = chain(Operator("work", max=20))


def seen(topology: Topology, plan: Plan, samples: list[Sample], **details: Any) -> Observation:
    return Observation(t=samples[-1].end, topology=topology, slo=Slo(), plan=plan, samples=tuple(samples), **details)


def working(
    received: Sequence[float], latency: float, degree: int = 1, start: float = 0.0, **details: Any
) -> list[Sample]:
    """One operator that processes all it receives, a measurement every 10 s."""
    return [
        Sample(t=start + STEP * i, seconds=STEP, input_rate=records / STEP, operators={
            "work": OperatorSample(degree, records, records, records * latency, queue=0.0)}, **details)
        for i, records in enumerate(received)
    ]  # fmt: skip


def decide(received: Sequence[float], latency: float, degree: int = 1, **options: Any) -> Decision:
    return Autoscale(**options).decide(seen(ALONE, Plan({"work": degree}), working(received, latency, degree)))


def test_every_figure_of_a_rising_input_by_hand() -> None:
    """100, 110 ... 150 received: 1110 follow; at 50 ms two instances can do 2400, so 46 % is medium."""
    decision = decide([100, 110, 120, 130, 140, 150], latency=0.05, degree=2)
    figures = decision.figures
    assert figures["EstimR"]["work"] == pytest.approx(1110)
    assert figures["pending"]["work"] == 0
    assert figures["Capacity"]["work"] == pytest.approx(2400)
    assert figures["EstimCapacity"]["work"] == pytest.approx(2400)
    assert figures["LAL"]["work"] == figures["GAL"]["work"] == pytest.approx(1110 / 2400)
    assert figures["activity"] == {"work": "medium"}
    assert decision.plan["work"] == 2
    assert decision.reason.code is ReasonCode.STEADY


@pytest.mark.parametrize(
    ("received", "latency", "degree", "then"),
    [
        ([100] * 6, 0.010, 10, 1),  # low (0.01) and level: 10 * 0.01 rounded up
        ([100] * 6, 0.200, 10, 2),  # low (0.2): 10 * 0.2
        ([100, 101, 102, 103, 104, 105], 0.010, 10, 10),  # low, but it rises
        ([100] * 6, 0.270, 3, 3),  # high (0.9), level
        ([100, 101, 102, 103, 104, 105], 0.250, 3, 4),  # high and rising: one more
        ([100] * 6, 0.290, 2, 3),  # critical (1.45): 2.9 rounded up
        ([110, 108, 106, 104, 102, 100], 0.290, 2, 3),  # critical though it falls
    ],
)
def test_degrees_follow_level_and_trend(received: Sequence[float], latency: float, degree: int, then: int) -> None:
    assert decide(received, latency, degree).plan["work"] == then


def test_the_maximum_and_the_minimum_hold() -> None:
    assert decide([1000] * 6, latency=1.0, degree=4).plan["work"] == 20
    job = chain(Operator("work", min=3, max=20))
    assert Autoscale().decide(seen(job, Plan({"work": 6}), working([1] * 6, 0.01, 6))).plan["work"] == 3


def test_readers_are_capped_by_the_source_partitions() -> None:
    job = Topology((Operator("work", max=20),), source_partitions=5)
    assert Autoscale().decide(seen(job, Plan({"work": 4}), working([1000] * 6, 1.0, 4))).plan["work"] == 5


def test_only_the_last_window_is_regressed() -> None:
    decision = decide([9000, 10, 5000] + [100] * 6, latency=0.05, degree=2)
    assert decision.figures["EstimR"]["work"] == pytest.approx(600)


def test_what_waits_has_to_be_processed_too() -> None:
    samples = working([100] * 6, 0.05, 1)
    operators = {"work": OperatorSample(1, 100, 100, 5.0, queue=700)}
    samples[-1] = Sample(t=50, seconds=10, input_rate=10, backlog=300, operators=operators)
    figures = Autoscale().decide(seen(ALONE, Plan({"work": 1}), samples)).figures
    assert figures["pending"] == {"work": 1000}
    assert figures["EstimInput"]["work"] == pytest.approx(1600)


def test_roots_share_the_backlog_by_what_they_read() -> None:
    job = Topology((Operator("x"), Operator("y")))
    busy = OperatorSample(1, 100, 100, 1.0, queue=0)
    sample = Sample(t=0, seconds=60, input_rate={"x": 30, "y": 10}, backlog=400, operators={"x": busy, "y": busy})
    assert Autoscale().decide(seen(job, Plan({"x": 1, "y": 1}), [sample])).figures["pending"] == {"x": 300, "y": 100}


def test_a_queue_that_nobody_counted_is_not_taken_for_empty() -> None:
    operators = {"work": OperatorSample(1, 80, 80, 8.0)}
    samples = [Sample(t=STEP * i, seconds=STEP, input_rate=10, operators=operators) for i in range(6)]
    with pytest.raises(MissingFigureError, match="queue of work"):
        Autoscale().decide(seen(ALONE, Plan({"work": 1}), samples))


def test_one_measurement_as_long_as_a_window_is_enough() -> None:
    operators = {"work": OperatorSample(1, 1200, 1200, 90.0, queue=0)}
    sample = Sample(t=0, seconds=90, input_rate=1200 / 90, operators=operators)
    decision = Autoscale().decide(seen(ALONE, Plan({"work": 1}), [sample]))
    assert decision.figures["LAL"]["work"] == pytest.approx(1.0)


def test_a_change_long_ago_does_not_stop_long_measurements() -> None:
    move = Decision.move(Plan({"work": 2}), Plan({"work": 1}), "less")
    change = Cycle(t=10, mode=Mode.ACTIVE, before=Plan({"work": 2}), decision=move, applied=True)
    operators = {"work": OperatorSample(1, 1200, 1200, 90.0, queue=0)}
    sample = Sample(t=100, seconds=90, input_rate=1200 / 90, operators=operators)
    decision = Autoscale().decide(seen(ALONE, Plan({"work": 1}), [sample], history=(change,)))
    assert decision.figures["LAL"]["work"] == pytest.approx(1.0)


def test_measurements_of_different_length_count_by_their_rate() -> None:
    long = Sample(t=0, seconds=30, input_rate=10, operators={"work": OperatorSample(1, 300, 300, 15.0, queue=0)})
    decision = Autoscale().decide(seen(ALONE, Plan({"work": 1}), [long, *working([100] * 3, 0.05, start=30.0)]))
    assert decision.figures["EstimR"]["work"] == pytest.approx(600)
    assert decision.figures["increasing"] == {"work": False}


def test_after_a_change_it_waits_for_five_of_six_measurements() -> None:
    """As its authors' code does: one may be missing. What was measured before the change does not count."""
    move = Decision.move(Plan({"work": 1}), Plan({"work": 2}), "more")
    change = Cycle(t=60, mode=Mode.ACTIVE, before=Plan({"work": 1}), decision=move, applied=True)
    before = working([5000] * 6, 0.05)

    def after(measurements: int, **options: Any) -> Decision:
        samples = before + working([100] * measurements, 0.05, degree=2, start=60.0)
        return Autoscale(**options).decide(seen(ALONE, Plan({"work": 2}), samples, history=(change,)))

    assert after(4).reason.code is ReasonCode.WARMING_UP
    assert after(4).plan == Plan({"work": 2})
    assert after(5).figures["EstimR"]["work"] == pytest.approx(600)
    assert after(5, may_miss=0).reason.code is ReasonCode.WARMING_UP
    assert after(6, may_miss=0).figures["EstimR"]["work"] == pytest.approx(600)


def test_a_job_that_has_just_started_is_left_alone_for_five_measurements() -> None:
    assert decide([1000] * 4, latency=1.0).reason.code is ReasonCode.WARMING_UP
    assert decide([1000] * 5, latency=1.0).plan["work"] == 20


def test_capacity_is_expected_to_go_on_as_it_went() -> None:
    """Latency falls from 100 to 50 ms over three windows: 600, 800 and 1200 at the present degree."""
    samples = [
        sample
        for window, latency in enumerate((0.1, 0.075, 0.05))
        for sample in working([60] * 6, latency, start=60.0 * window)
    ]
    figures = Autoscale().decide(seen(ALONE, Plan({"work": 1}), samples)).figures
    assert figures["Capacity"]["work"] == pytest.approx(1200)
    covariance, deviation = (-100 * -200 + 100 * 200) / 2, (560_000 / 9) ** 0.5
    assert figures["EstimCapacity"]["work"] == pytest.approx(1200 + covariance / deviation)
    assert Autoscale(earlier_windows=1).decide(
        seen(ALONE, Plan({"work": 1}), samples)
    ).figures["EstimCapacity"]["work"] == pytest.approx(1200)  # fmt: skip


def test_latency_that_nobody_measured_is_not_made_up() -> None:
    sample = Sample(t=0, seconds=60, input_rate=10, operators={"work": OperatorSample(1, 600, 600, queue=0)})
    with pytest.raises(MissingFigureError, match="useful_seconds of work"):
        Autoscale().decide(seen(ALONE, Plan({"work": 1}), [sample]))


def test_a_critical_parent_warns_its_child_under_max_and_not_under_min() -> None:
    """A burst waits at the parent, which will pass all of it on once it has grown; its child has seen 300 so far."""
    job = chain(Operator("parent", max=20), Operator("child", max=20))
    operators = {
        "parent": OperatorSample(1, 50, 50, 5.0, queue=5000),
        "child": OperatorSample(1, 50, 50, 7.5, queue=0),
    }
    samples = [Sample(t=STEP * i, seconds=STEP, input_rate=5, operators=operators) for i in range(6)]
    observation = seen(job, Plan({"parent": 1, "child": 1}), samples)
    safe, frugal = Autoscale(combine="max").decide(observation), Autoscale(combine="min").decide(observation)
    assert safe.plan["parent"] == frugal.plan["parent"] == 9  # 300 and 5000 that wait, 600 each
    assert safe.figures["EstimOutput"]["parent"] == pytest.approx(5300)
    assert (safe.figures["LAL"]["child"], safe.figures["GAL"]["child"]) == pytest.approx((0.75, 5300 / 400))
    assert frugal.figures["GAL"]["child"] == pytest.approx(0.75)
    assert (safe.plan["child"], frugal.plan["child"]) == (14, 1)


def test_a_child_is_sized_for_what_its_parent_will_send_at_its_new_degree() -> None:
    """The parent expects 300 and can do 100; the child, which was sent 100, can do 150: it will be sent 300."""
    job = chain(Operator("parent", max=20), Operator("child", max=20))
    per_measurement = {"parent": (100 / 6, 60 / 100), "child": (100 / 6, 60 / 150)}  # records, seconds a record
    operators = {
        name: OperatorSample(1, records, records, records * latency, queue=200.0 if name == "parent" else 0.0)
        for name, (records, latency) in per_measurement.items()
    }
    samples = [Sample(t=STEP * i, seconds=STEP, input_rate=100 / 60, operators=operators) for i in range(6)]
    decision = Autoscale().decide(seen(job, Plan({"parent": 1, "child": 1}), samples))
    assert decision.figures["EstimInput"]["parent"] == pytest.approx(300)
    assert decision.figures["LAL"]["child"] == pytest.approx(100 / 150)
    assert decision.figures["GAL"]["child"] == pytest.approx(300 / 150)
    assert decision.plan == Plan({"parent": 3, "child": 2})


def test_a_change_packs_all_instances_onto_as_few_workers_as_possible_wherever_they_were() -> None:
    workers = tuple(Worker(f"w{i}", 4) for i in range(4))
    plan = Plan({"work": 2}, placement={"work": ("w1", "w3")})
    observation = seen(ALONE, plan, working([100] * 6, 0.5, 2), workers=workers)
    decision = Autoscale().decide(observation)
    assert decision.plan["work"] == 5
    assert decision.plan.placement == {"work": ("w0", "w0", "w0", "w0", "w1")}


def test_a_scale_in_gathers_the_instances_that_stay_on_one_worker() -> None:
    """The paper's own observation: from three supervisors to one, although none of the last two had to move."""
    job = chain(Operator("first", max=8), Operator("sink", max=8))
    operators = {"first": OperatorSample(1, 10, 10, 0.02, queue=0), "sink": OperatorSample(4, 10, 10, 0.8, queue=0)}
    samples = [Sample(t=STEP * i, seconds=STEP, input_rate=1, operators=operators) for i in range(6)]
    spread = Plan({"first": 1, "sink": 4}, placement={"first": ("w0",), "sink": ("w1", "w1", "w2", "w2")})
    workers = tuple(Worker(f"w{i}", 2) for i in range(3))
    decision = Autoscale().decide(seen(job, spread, samples, workers=workers))
    assert decision.plan.placement == {"first": ("w0",), "sink": ("w0",)}


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"low": 0.9}, "high must be between low"),
        ({"high": 1.2}, "high must be between low"),
        ({"combine": "mean"}, "combine"),
        ({"window_seconds": 0.0}, "window_seconds"),
        ({"may_miss": -1}, "may_miss"),
        ({"earlier_windows": -1}, "earlier_windows"),
        ({"cpu_overcommit": 0.0}, "cpu_overcommit"),
    ],
)
def test_options_that_cannot_be_are_refused_by_name(options: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidValueError, match=field):
        POLICIES.create("autoscale", options)


# Stories on a fluid job: what arrives waits until the instances have time for it ----------------------------------


@dataclass
class FluidJob:
    """A chain of operators of fixed latency; ten seconds at a time."""

    topology: Topology
    plan: Plan
    t: float = 0.0
    queue: dict[str, float] = field(default_factory=dict)

    def measure(self, rate: float) -> Sample:
        operators, arriving = {}, rate * STEP
        for name in self.topology.order:
            waiting = self.queue.get(name, 0.0) + arriving
            done = min(waiting, self.plan[name] * STEP / LATENCY[name])
            self.queue[name] = waiting - done
            operators[name] = OperatorSample(self.plan[name], done, done, done * LATENCY[name], queue=self.queue[name])
            arriving = done
        self.t += STEP
        return Sample(t=self.t - STEP, seconds=STEP, input_rate=rate, operators=operators)


def steer(start: Plan, rate: Callable[[float], float], minutes: int) -> tuple[list[Plan], list[float]]:
    """The plan of each measurement and what waited at its end, under AUTOSCALE."""
    job, policy = FluidJob(LINEAR, start), Autoscale()
    samples: list[Sample] = []
    history: list[Cycle] = []
    plans, waiting = [], []
    for _ in range(minutes * policy.measurements):
        samples.append(job.measure(rate(job.t)))
        plans.append(job.plan)
        waiting.append(sum(job.queue.values()))
        decision = policy.decide(seen(LINEAR, job.plan, samples[-120:], history=tuple(history)))
        history.append(Cycle(t=job.t, mode=Mode.ACTIVE, before=job.plan, decision=decision, applied=True))
        job.plan = decision.plan
    return plans, waiting


def three_steps(t: float) -> float:
    """Low, a slow climb, high, and down again (Fig. 7), in records per second; eight sinks carry 100."""
    climb = min(max((t - 600) / 600, 0.0), 1.0)
    fall = min(max((t - 2400) / 300, 0.0), 1.0)
    return 5 + 70 * (climb - fall)


def test_from_minimal_degrees_it_climbs_with_the_stream_and_comes_back() -> None:
    smallest = Plan.smallest(LINEAR)
    plans, waiting = steer(smallest, three_steps, 60)
    sinks = [plan["sink"] for plan in plans]
    assert sinks[9 * 6] == 1
    assert max(sinks) == 8
    assert sinks[-1] <= 2
    assert waiting[-1] == 0
    unsteered = FluidJob(LINEAR, smallest)
    for _ in range(360):
        unsteered.measure(three_steps(unsteered.t))
    assert unsteered.queue["sink"] > 50_000  # left alone, minimal degrees congest for good


def test_from_expert_degrees_it_saves_a_third_without_congestion() -> None:
    expert = Plan({"first": 1, "second": 1, "sink": 8})
    plans, waiting = steer(expert, three_steps, 60)
    saved = 1 - sum(plan["sink"] for plan in plans) / (8 * len(plans))
    assert saved > 0.3
    assert waiting[-1] == 0
    assert max(waiting) < 60 * 75  # never more than a minute of the high rate


def test_a_constant_stream_settles() -> None:
    plans, waiting = steer(Plan.smallest(LINEAR), lambda t: 60.0, 30)
    assert len(set(plans[-10:])) == 1
    assert waiting[-1] == 0
