"""AuTraScale and AuTraScale+ asked once, as `penstock decide` does, and what they refuse."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.control.think import think
from penstock.model import (
    Decision,
    InvalidValueError,
    Latency,
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
from penstock.policies.autrascale import AuTraScale
from penstock.policies.autrascale_plus import AuTraScalePlus

BOTH = pytest.mark.parametrize("name", ["autrascale", "autrascale_plus"])
SLO = Slo(processing_latency="180 ms", event_latency="500 ms", drain="6 min")
TOPOLOGY = Topology((Operator("split", max=40), Operator("count", max=40)), (("split", "count"),))


def window(t: float = 0.0, *, split: int = 1, count: int = 2, **changes: Any) -> Sample:
    """Ten seconds in which one splitter does 123 records/s and emits five for one, and a counter does 400."""
    operators = {
        "split": OperatorSample(split, records_in=1000, records_out=5000, useful_seconds=8.1),
        "count": OperatorSample(count, records_in=5000, records_out=5000, useful_seconds=12.5),
    }
    figures = {
        "t": t, "seconds": 10.0, "operators": operators, "input_rate": 100.0, "throughput": 95.0, "backlog": 0.0,
        "processing_latency_ms": Latency(mean=120.0), "event_latency_ms": Latency(mean=150.0),
    }  # fmt: skip
    return Sample(**{**figures, **changes})


def ask(name: str, *samples: Sample, slo: Slo = SLO, options: dict[str, Any] | None = None) -> Decision:
    plan = Plan({operator: figures.parallelism for operator, figures in samples[-1].operators.items()})
    observation = Observation(t=samples[-1].end, topology=TOPOLOGY, slo=slo, plan=plan, samples=samples)
    return think(POLICIES.create(name, options), (), observation, len(samples))


@BOTH
def test_both_are_learners_found_by_name(name: str) -> None:
    assert isinstance(POLICIES.create(name), Learner)


@BOTH
def test_one_overloaded_window_is_answered_with_the_plan_that_would_keep_up(name: str) -> None:
    decision = ask(name, window(input_rate=500.0), options={"alpha": 0.8})
    # ceil(500 / 123.46) = 5 splitters; at 617.3 each they emit 3,086, for which 8 count
    assert dict(decision.plan.parallelism) == {"split": 5, "count": 8}
    assert decision.reason.code is ReasonCode.SCALE_UP
    assert decision.figures["phase"] == "throughput optimisation"
    assert decision.figures["true_processing_rate"]["split"] == pytest.approx(1000 / 8.1)


@BOTH
def test_one_window_that_asks_for_the_same_plan_again_ends_the_walk_and_scores_it(name: str) -> None:
    decision = ask(name, window())  # 95 of 100 get through, and more of nothing would help: split 1, count 2
    assert dict(decision.plan.parallelism) == {"split": 1, "count": 2}
    assert decision.reason.code is ReasonCode.STEADY
    assert decision.figures["score"] == 1.0
    assert decision.figures["score_threshold"] == pytest.approx(0.9)


@BOTH
def test_a_missed_latency_is_answered_with_the_first_bootstrap_sample(name: str) -> None:
    decision = ask(name, window(processing_latency_ms=Latency(mean=300.0)), options={"uniform_samples": 3})
    assert decision.reason.code is ReasonCode.EXPLORE
    assert decision.figures["bootstrap_set"] == [[2, 2], [21, 21], [40, 40], [40, 2], [1, 40]]
    assert dict(decision.plan.parallelism) == {"split": 2, "count": 2}


@BOTH
def test_several_windows_are_learnt_from_in_turn(name: str) -> None:
    missed = Latency(mean=300.0)
    samples = (
        window(0.0, processing_latency_ms=missed),
        window(10.0, split=2, processing_latency_ms=missed),
        window(20.0, split=1, processing_latency_ms=missed),
    )
    decision = ask(name, *samples, options={"uniform_samples": 3})
    assert dict(decision.plan.parallelism) == {"split": 21, "count": 21}


@BOTH
def test_alpha_weighs_latency_against_resources(name: str) -> None:
    samples = (window(), window(10.0, split=2, processing_latency_ms=Latency(mean=240.0)))
    assert ask(name, *samples, options={"alpha": 1.0}).figures["score"] == pytest.approx(180 / 240)
    assert ask(name, *samples, options={"alpha": 0.0}).figures["score"] == pytest.approx((1 / 2 + 1) / 2)


@BOTH
def test_without_a_latency_target_it_keeps_up_and_holds(name: str) -> None:
    decision = ask(name, window(processing_latency_ms=None, event_latency_ms=None), slo=Slo())
    assert decision.reason.code is ReasonCode.STEADY
    assert "no latency is asked for" in decision.reason.text


@BOTH
def test_a_target_for_event_latency_alone_stands_in_for_that_of_processing(name: str) -> None:
    event_only = Slo(event_latency="200 ms")
    missed = ask(name, window(processing_latency_ms=Latency(mean=400.0)), slo=event_only)
    assert missed.reason.code is ReasonCode.EXPLORE
    assert missed.figures["score"] == pytest.approx(0.8 * 200 / 400 + 0.2)
    unmeasured = ask(name, window(processing_latency_ms=None), slo=event_only)
    assert unmeasured.reason.code is ReasonCode.MISSING_METRICS
    assert "processing_latency_ms" in unmeasured.reason.text


@BOTH
@pytest.mark.parametrize("figure", ["input_rate", "throughput", "processing_latency_ms"])
def test_a_figure_that_was_not_measured_is_named_in_a_hold(name: str, figure: str) -> None:
    absent: dict[str, Any] = {figure: None}
    decision = ask(name, window(**absent))
    assert decision.reason.code is ReasonCode.MISSING_METRICS
    assert figure in decision.reason.text


@BOTH
def test_an_operator_without_a_sample_is_named_in_a_hold(name: str) -> None:
    observation = Observation(
        t=10.0, topology=TOPOLOGY, slo=SLO, plan=Plan({"split": 1, "count": 1}),
        samples=(window(operators={"split": OperatorSample(1)}),),
    )  # fmt: skip
    decision = think(POLICIES.create(name), (), observation, 1)
    assert decision.reason.text == "parallelism of count was not measured"


@BOTH
def test_an_idle_job_is_walked_down_without_a_fault(name: str) -> None:
    decision = ask(name, window(split=4, count=6, input_rate=0.0, throughput=0.0), slo=Slo())
    assert dict(decision.plan.parallelism) == {"split": 1, "count": 2}  # one splitter could emit 617 records/s


def test_a_backlog_left_when_the_input_stops_is_drained_without_a_fault() -> None:
    decision = ask(
        "autrascale_plus",
        window(input_rate=0.0, throughput=90.0, backlog=36e3, event_latency_ms=Latency(mean=9e4)),
        slo=Slo(event_latency="500 ms", drain="1 min"),
    )
    assert decision.figures["target_throughput"] == pytest.approx(600.0)
    # 90/s of 123.5 come through: what should do 823/s does 600, which is 4,115 records/s for counters of 400.
    assert dict(decision.plan.parallelism) == {"split": 7, "count": 11}


def bounded(least: int, most: int) -> Topology:
    return Topology((Operator("split", max=40), Operator("count", min=least, max=most)), (("split", "count"),))


@BOTH
def test_a_plan_below_its_bounds_is_brought_back_inside(name: str) -> None:
    observation = Observation(
        t=10.0, topology=bounded(3, 40), slo=SLO, plan=Plan({"split": 1, "count": 2}),
        samples=(window(throughput=100.0),),
    )  # fmt: skip
    assert think(POLICIES.create(name), (), observation, 1).plan["count"] >= 3


@BOTH
def test_what_was_learnt_within_other_bounds_is_forgotten(name: str) -> None:
    policy = POLICIES.create(name)
    for most, count in ((40, 2), (1, 1)):
        observation = Observation(
            t=10.0, topology=bounded(1, most), slo=SLO, plan=Plan({"split": 1, "count": count}),
            samples=(window(count=count, throughput=100.0),),
        )  # fmt: skip
        decision = think(policy, (), observation, 1)
    assert dict(decision.plan.parallelism) == {"split": 1, "count": 1}
    assert decision.figures["throughput_parallelism"] == {"split": 1, "count": 1}


def test_a_backlog_above_its_event_latency_is_drained_by_autrascale_plus_alone() -> None:
    late = window(throughput=100.0, backlog=36e3, event_latency_ms=Latency(mean=9e4))
    assert ask("autrascale", late).reason.code is ReasonCode.STEADY
    decision = ask("autrascale_plus", late)
    assert decision.figures["phase"] == "event latency optimisation"
    assert decision.figures["R_steady"] == pytest.approx(100 * (0.5 - 0.12))
    assert decision.figures["R_target"] == pytest.approx(36e3 - 38.0)
    assert decision.figures["target_throughput"] == pytest.approx(100 + (36e3 - 38.0) / 360.0)
    # One splitter promises 123.5/s and was seen to do 100, so that 199.9/s take what 246.8/s should: two splitters, and
    # for five records each four counters of 400/s.
    assert dict(decision.plan.parallelism) == {"split": 2, "count": 4}


def test_a_drain_asks_for_more_where_the_plan_in_force_does_less_than_its_true_rates_promise() -> None:
    """The target is within what one splitter promises, but not within what it does: a second one is needed."""
    late = window(throughput=100.0, backlog=4e3, event_latency_ms=Latency(mean=9e4))
    decision = ask("autrascale_plus", late)
    assert 100.0 < decision.figures["target_throughput"] < 1000 / 8.1
    assert dict(decision.plan.parallelism) == {"split": 2, "count": 2}


def test_an_offline_profile_is_used_as_if_the_job_had_shown_it() -> None:
    policy = AuTraScalePlus()
    policy.profiled((3, 4), 200.0)
    late = window(throughput=100.0, backlog=36e3, event_latency_ms=Latency(mean=9e4))
    observation = Observation(t=10.0, topology=TOPOLOGY, slo=SLO, plan=Plan({"split": 1, "count": 2}), samples=(late,))
    decision = think(policy, (), observation, 1)
    assert dict(decision.plan.parallelism) == {"split": 3, "count": 4}
    assert decision.reason.code is ReasonCode.SCALE_UP


@BOTH
@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("alpha", 1.2), ("over_allocation_ratio", -0.1), ("xi", -1.0), ("uniform_samples", 0), ("num", -1),
        ("policy_running_time", -1.0), ("backlog_patience", -1.0), ("rate_tolerance", 2.0), ("throughput_noise", -0.1),
        ("nu", 2.0), ("max_iterations", -1), ("seed", -1), ("keep_up_tolerance", float("nan")),
    ],
)  # fmt: skip
def test_an_option_out_of_range_is_refused_by_name(name: str, option: str, value: float) -> None:
    with pytest.raises(InvalidValueError, match=option):
        POLICIES.create(name, {option: value})


@pytest.mark.parametrize(
    ("option", "value"), [("c0", 0.0), ("beta", 0.0), ("throughput_threshold", 1.5), ("drain_limit", 0.0)]
)
def test_an_option_of_autrascale_plus_out_of_range_is_refused_by_name(option: str, value: float) -> None:
    with pytest.raises(InvalidValueError, match=option):
        POLICIES.create("autrascale_plus", {option: value})


@BOTH
def test_every_option_says_what_it_means(name: str) -> None:
    entry = POLICIES.describe(name)
    assert entry.source.startswith("AuTraScale")
    assert {"alpha", "xi", "num", "policy_running_time"} <= {option.name for option in entry.options}
    assert all(option.meaning for option in entry.options)


def test_a_fresh_state_restores_to_a_fresh_policy() -> None:
    policy = AuTraScale()
    policy.restore(AuTraScale().state())
    assert policy == AuTraScale()


@pytest.mark.parametrize(
    ("name", "options", "split"),
    [("autrascale", {}, 13), ("autrascale_plus", {}, 8), ("autrascale_plus", {"by_instance": False}, 13)],
)
def test_the_second_paper_takes_the_mean_of_the_instances_rates(name: str, options: dict[str, Any], split: int) -> None:
    """100 records in 1 s and 100 in 4 s are 40 records/s or 62.5: 500 need 13 instances or 8."""
    slow = OperatorSample(2, records_in=200, records_out=1000, useful_seconds=5.0, instance_rates=(100.0, 25.0))
    count = OperatorSample(2, records_in=1000, records_out=1000, useful_seconds=2.5)
    decision = ask(name, window(input_rate=500.0, operators={"split": slow, "count": count}), options=options)
    assert decision.plan["split"] == split
