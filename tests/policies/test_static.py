"""A fixed plan: as it is, minimal, by an expert, or more than enough."""

from typing import Any

import pytest

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

JOB = Topology((Operator("read", max=10), Operator("work", min=2, max=8)), (("read", "work"),), source_partitions=4)


def decide(before: dict[str, int], **options: Any) -> Decision:
    sample = Sample(t=0, seconds=10, operators={"read": OperatorSample(1), "work": OperatorSample(1)})
    observation = Observation(t=10, topology=JOB, slo=Slo(), plan=Plan(before), samples=(sample,))
    return POLICIES.create("static", options).decide(observation)


@pytest.mark.parametrize(
    ("options", "parallelism", "code"),
    [
        ({}, {"read": 3, "work": 3}, ReasonCode.STEADY),
        ({"kind": "as_is"}, {"read": 3, "work": 3}, ReasonCode.STEADY),
        ({"kind": "minimal"}, {"read": 1, "work": 2}, ReasonCode.SCALE_DOWN),
        ({"kind": "over_provisioned"}, {"read": 4, "work": 8}, ReasonCode.SCALE_UP),
        ({"kind": "expert", "parallelism": {"read": 1, "work": 8}}, {"read": 1, "work": 8}, ReasonCode.REBALANCE),
        ({"parallelism": {"read": 1, "work": 8}}, {"read": 1, "work": 8}, ReasonCode.REBALANCE),
        ({"parallelism": {"work": 5}}, {"read": 3, "work": 5}, ReasonCode.SCALE_UP),
        ({"parallelism": {"read": 50, "work": 1}}, {"read": 4, "work": 2}, ReasonCode.REBALANCE),
    ],
)
def test_it_goes_to_its_plan(options: dict[str, Any], parallelism: dict[str, int], code: ReasonCode) -> None:
    decision = decide({"read": 3, "work": 3}, **options)
    assert decision.plan.parallelism == parallelism
    assert decision.reason.code is code


@pytest.mark.parametrize("kind", ["as_is", "minimal", "over_provisioned"])
def test_once_there_it_stays(kind: str) -> None:
    first = decide({"read": 3, "work": 3}, kind=kind)
    second = decide(dict(first.plan.parallelism), kind=kind)
    assert second.plan == first.plan
    assert second.reason.code is ReasonCode.STEADY
    assert second.reason.text == f"the plan is fixed: {kind}"


def test_a_plan_out_of_bounds_does_not_stay_as_it_is() -> None:
    assert decide({"read": 9, "work": 1}).plan.parallelism == {"read": 4, "work": 2}


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"kind": "maximal"},
         "kind 'maximal' is not known; did you mean 'minimal'? There is: as_is, expert, minimal, over_provisioned"),
        ({"kind": "expert"}, "parallelism must be given with the kind expert"),
        ({"kind": "minimal", "parallelism": {"read": 1}}, "parallelism must not be given with the kind minimal"),
        ({"parallelism": {"read": 0}}, "parallelism of read must be a whole number of at least 1, not 0"),
        ({"parallelism": {"read": "2"}}, "policy static: parallelism: read must be of type int, not '2'"),
        ({"parallelism": {"raed": 2}},
         "parallelism 'raed' is not known; did you mean 'read'? There is: read, work"),
    ],
)  # fmt: skip
def test_options_that_cannot_be_meant_are_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidValueError) as refused:
        decide({"read": 3, "work": 3}, **options)
    assert str(refused.value) == sentence
