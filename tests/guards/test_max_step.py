from __future__ import annotations

from collections.abc import Callable

import pytest

from penstock.guards.max_step import MaxStep
from penstock.model import (
    Cycle,
    Decision,
    InvalidValueError,
    Observation,
    Operator,
    Plan,
    Reason,
    ReasonCode,
    Sample,
    Topology,
    Verdict,
)

Decide = Callable[..., Decision]
Observe = Callable[..., Observation]


@pytest.mark.parametrize(
    ("present", "asked", "granted"),
    [
        (10, 19, 19), (10, 20, 20), (10, 21, 20), (10, 5, 5), (10, 4, 5), (3, 1, 2), (7, 1, 4),
        (1, 2, 2), (1, 9, 2), (2, 1, 1),
    ],
)  # fmt: skip
def test_an_operator_at_most_doubles_or_halves(
    present: int, asked: int, granted: int, decide: Decide, observe: Observe
) -> None:
    guard = MaxStep(up_factor=2.0, down_factor=0.5)
    assert guard.vet(decide({"a": asked}), observe({"a": present})).plan == Plan({"a": granted})


@pytest.mark.parametrize(("asked", "granted"), [(9, 6), (1, 4)])
def test_one_instance_is_always_allowed_however_small_the_factors(
    asked: int, granted: int, decide: Decide, observe: Observe
) -> None:
    guard = MaxStep(up_factor=1.0, down_factor=1.0)
    assert guard.vet(decide({"a": asked}), observe({"a": 5})).plan == Plan({"a": granted})


@pytest.mark.parametrize(("factor", "least"), [(0.07, 7), (0.29, 29), (0.0, 1)])
def test_a_share_that_binary_numbers_cannot_hold_is_not_rounded_up(
    factor: float, least: int, decide: Decide, observe: Observe
) -> None:
    assert MaxStep(down_factor=factor).vet(decide({"a": 1}), observe({"a": 100})).plan == Plan({"a": least})


def test_executors_are_limited_like_operators_and_the_verdict_says_how(decide: Decide, observe: Observe) -> None:
    decision = decide(Plan({"a": 9, "b": 3}, executors=50))
    vetted = MaxStep().vet(decision, observe(Plan({"a": 2, "b": 3}, executors=2)))
    assert vetted.plan == Plan({"a": 8, "b": 3}, executors=8)
    assert vetted.verdicts[0].reason.code is ReasonCode.MAX_STEP
    assert "a 8 instead of 9, executors 8 instead of 50" in vetted.verdicts[0].reason.text


def test_the_first_executors_are_asked_for_freely(decide: Decide, observe: Observe) -> None:
    decision = decide(Plan({"a": 2}, executors=50))
    assert MaxStep().vet(decision, observe({"a": 2})) is decision


def test_operators_that_are_to_share_their_instances_come_to_one_number(decide: Decide, observe: Observe) -> None:
    line = Topology.chain("a", Operator("b", chained=True), Operator("c", chained=True))

    def granted(topology: Topology, a: int, others: int) -> tuple[int, ...]:
        observation = observe({"a": 1, "b": 2, "c": 2}, topology)
        vetted = MaxStep(up_factor=2.0).vet(decide({"a": a, "b": others, "c": others}), observation)
        return tuple(vetted.plan.parallelism.values())

    assert granted(line, 5, 5) == (4, 4, 4)
    assert granted(line, 5, 6) == granted(line.apart, 5, 5) == (2, 4, 4)


def test_a_job_that_misses_its_targets_from_the_start_is_sized_in_one_step(
    decide: Decide, observe: Observe, window: Callable[..., Sample], cycle: Callable[..., Cycle]
) -> None:
    late, steady = (window(9_940.0, processing_ms=ms) for ms in (500.0, 50.0))

    def granted(sample: Sample, *history: Cycle) -> int:
        observation = observe({"a": 2}, samples=(sample,), history=history)
        return MaxStep().vet(decide({"a": 50}), observation).plan["a"]

    waited = cycle(9_000.0, {"a": 2})
    assert granted(late) == granted(late, waited) == 32
    assert granted(steady) == 8  # one odd figure of a job that does well
    assert granted(late, cycle(9_000.0, {"a": 1}, {"a": 2})) == 8  # somebody has sized it
    assert granted(late, *[waited] * 10) == 8  # it did well for long


def test_a_return_to_an_earlier_plan_may_take_one_leap(decide: Decide, observe: Observe) -> None:
    decision = decide({"a": 1}, verdicts=(Verdict("roll_back", Reason(ReasonCode.ROLL_BACK, "")),))
    assert MaxStep().vet(decision, observe({"a": 40})) is decision


@pytest.mark.parametrize(
    ("option", "value"), [("up_factor", 0.5), ("first_factor", 0.5), ("down_factor", 1.5), ("down_factor", -1)]
)
def test_factors_on_the_wrong_side_of_one_are_refused(option: str, value: float) -> None:
    with pytest.raises(InvalidValueError, match=f"{option} must"):
        MaxStep(**{option: value})
