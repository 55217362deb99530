"""Too busy grows, too idle shrinks, in between stays; a growing backlog counts as too busy."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.control.think import think
from penstock.model import (
    Decision,
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
from strategies import LinearJob, linear_jobs

JOB = Topology((Operator("read", max=50), Operator("work", max=50)), (("read", "work"),))
PLAN = Plan({"read": 4, "work": 10})


def window(utilisation: dict[str, float], t: float = 0.0, plan: Plan = PLAN, **figures: Any) -> Sample:
    """Ten seconds at 100 records/s in which the operators were busy for these shares of their time."""
    operators = {
        name: OperatorSample(plan[name], useful_seconds=10 * plan[name] * u) for name, u in utilisation.items()
    }
    return Sample(t=t, seconds=10, operators=operators, **{"input_rate": 100, "backlog": 0, **figures})


def decide(*samples: Sample, plan: Plan = PLAN, topology: Topology = JOB, **options: Any) -> Decision:
    observation = Observation(t=99, topology=topology, slo=Slo(), plan=plan, samples=samples)
    return think(POLICIES.create("threshold", options), (), observation, fresh=0)


@pytest.mark.parametrize(
    ("utilisation", "wanted"),
    [
        (1.0, 17),  # 10 * 1.0 / 0.6, rounded up
        (0.9, 15),
        (0.8, 14),
        (0.79, 10),
        (0.6, 10),
        (0.3, 10),
        (0.29, 5),
        (0.12, 2),
        (0.0, 1),
    ],
)
def test_the_rule_is_proportional_outside_of_the_band(utilisation: float, wanted: int) -> None:
    decision = decide(window({"read": 0.6, "work": utilisation}))
    assert decision.plan.parallelism == {"read": 4, "work": wanted}


def test_each_operator_is_judged_on_its_own() -> None:
    decision = decide(window({"read": 0.1, "work": 0.9}))
    assert decision.plan.parallelism == {"read": 1, "work": 15}
    assert decision.reason.code is ReasonCode.REBALANCE
    assert decision.reason.text == "work is busy 90% of the time"
    assert decision.figures["utilisation"] == pytest.approx({"read": 0.1, "work": 0.9})
    assert decision.figures["busy_instances"] == pytest.approx({"read": 0.4, "work": 9})


def test_thresholds_can_be_moved() -> None:
    decision = decide(window({"read": 0.5, "work": 0.5}), high=0.5, target=0.25, low=0.1)
    assert decision.plan.parallelism == {"read": 8, "work": 20}


def test_it_keeps_to_the_bounds() -> None:
    narrow = Topology((Operator("read", max=50), Operator("work", min=8, max=12)), JOB.edges, source_partitions=5)
    assert decide(window({"read": 1, "work": 1}), topology=narrow).plan.parallelism == {"read": 5, "work": 12}
    assert decide(window({"read": 0.01, "work": 0.01}), topology=narrow).plan.parallelism == {"read": 1, "work": 8}


def test_a_window_of_an_older_plan_is_judged_by_the_plan_in_force() -> None:
    # 4 + 10 instances were busy half of the time: 2 and 5 of them, whatever runs now.
    decision = decide(window({"read": 0.5, "work": 0.5}), plan=Plan({"read": 4, "work": 6}))
    assert decision.figures["utilisation"] == pytest.approx({"read": 0.5, "work": 5 / 6})
    assert decision.plan.parallelism == {"read": 4, "work": 9}


CALM = {"read": 0.5, "work": 0.7}


def test_a_growing_backlog_counts_as_high_for_the_busiest() -> None:
    decision = decide(window(CALM), window(CALM, t=10, backlog=100))
    assert decision.plan.parallelism == {"read": 4, "work": 14}  # 10 * 0.8 / 0.6
    assert decision.reason.text == "work is busy 70% of the time and the backlog grows"
    assert decision.figures["falls_behind"] is True


@pytest.mark.parametrize(
    ("before", "after", "later"),
    [
        ({"backlog": 0}, {"backlog": 50}, 10),  # 5 % of the 1000 records of the window
        ({"backlog": 900}, {"backlog": 900}, 10),  # there, but not growing
        ({"backlog": 900}, {"backlog": 100}, 10),
        ({"backlog": 0}, {"backlog": 900}, 30),  # it grew while the job was being changed
    ],
)
def test_a_backlog_that_does_not_grow_in_the_window_changes_nothing(before: Any, after: Any, later: float) -> None:
    assert decide(window(CALM, **before), window(CALM, t=later, **after)).plan == PLAN


def test_the_backlog_can_be_left_out_of_it() -> None:
    grown = (window(CALM, backlog=None), window(CALM, t=10, backlog=None))
    assert decide(*grown, backlog_growth=None).reason.code is ReasonCode.STEADY
    assert decide(*grown).reason.code is ReasonCode.MISSING_METRICS


@pytest.mark.parametrize(
    ("samples", "sentence"),
    [
        ((window({"read": 0.9}),), "useful_seconds of work was not measured"),
        ((window(CALM), window(CALM, t=10, backlog=None)), "backlog of the job was not measured"),
        ((window(CALM, backlog=None), window(CALM, t=10)), "backlog of the job was not measured"),
        ((window(CALM), window(CALM, t=10, input_rate=None)), "input_rate of the job was not measured"),
    ],
)
def test_a_missing_figure_holds_the_plan(samples: tuple[Sample, ...], sentence: str) -> None:
    decision = decide(*samples)
    assert decision.plan == PLAN
    assert (decision.reason.code, decision.reason.text) == (ReasonCode.MISSING_METRICS, sentence)


@given(job=linear_jobs(bounded=False), start=st.integers(1, 20))
def test_a_job_that_keeps_up_is_at_rest_after_one_step(job: LinearJob, start: int) -> None:
    plan = Plan({name: start + int(job.load[name] / job.true_rate[name]) for name in job.topology.names})
    sized = decide(job.respond(plan), plan=plan, topology=job.topology).plan
    assert decide(job.respond(sized), plan=sized, topology=job.topology).plan == sized


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"high": 1.2}, "high must be more than 0 and at most 1, not 1.2"),
        ({"target": 0.8}, "target must be between 0 and high (0.8), not 0.8"),
        ({"target": 0.0}, "target must be between 0 and high (0.8), not 0.0"),
        ({"low": 0.6}, "low must be between 0 and target (0.6), not 0.6"),
        ({"low": -0.1}, "low must be between 0 and target (0.6), not -0.1"),
        ({"backlog_growth": -1}, "backlog_growth must be a finite number of at least 0, not -1.0"),
    ],
)
def test_thresholds_that_contradict_each_other_are_refused(options: dict[str, float], sentence: str) -> None:
    with pytest.raises(InvalidValueError) as refused:
        POLICIES.create("threshold", options)
    assert str(refused.value) == sentence
