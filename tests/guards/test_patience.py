from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from penstock.guards.patience import Patience
from penstock.model import Cycle, Decision, Observation, Origin, Plan, Reason, ReasonCode, Verdict

Decide = Callable[..., Decision]
Observe = Callable[..., Observation]
Remember = Callable[..., Cycle]


@pytest.fixture
def remembered(cycle: Remember) -> Callable[..., tuple[Cycle, ...]]:
    """Cycles of a job held at 10 instances, by the second in which each plan was asked for."""

    def build(wishes: dict[float, int], **details: Any) -> tuple[Cycle, ...]:
        return tuple(cycle(t, {"a": 10}, wanted=Plan({"a": k}), **details) for t, k in wishes.items())

    return build


def test_an_operator_shrinks_to_the_largest_need_of_the_window(
    decide: Decide, observe: Observe, remembered: Callable[..., tuple[Cycle, ...]]
) -> None:
    history = remembered({640: 9, 700: 3, 760: 6, 820: 4})
    vetted = Patience(seconds=300).vet(decide({"a": 2}), observe({"a": 10}, t=1000, history=history))
    assert vetted.plan == Plan({"a": 6})  # the 9 was wanted 360 s ago, outside the window
    assert vetted.verdicts[0].reason == Reason(ReasonCode.PATIENCE, "needed within the last 300 s: a 6 instead of 2")


def test_a_need_that_filled_the_whole_window_is_granted(
    decide: Decide, observe: Observe, remembered: Callable[..., tuple[Cycle, ...]]
) -> None:
    decision = decide({"a": 2})
    history = remembered({700: 2, 800: 1, 900: 2})
    assert Patience(seconds=300).vet(decision, observe({"a": 10}, t=1000, history=history)) is decision


@pytest.mark.parametrize(("first", "granted"), [(701, 10), (700, 4)])
def test_nothing_shrinks_before_the_history_covers_the_window(
    first: float, granted: int, decide: Decide, observe: Observe, remembered: Callable[..., tuple[Cycle, ...]]
) -> None:
    history = remembered({first: 4, 900: 3})
    vetted = Patience(seconds=300).vet(decide({"a": 2}), observe({"a": 10}, t=1000, history=history))
    assert vetted.plan == Plan({"a": granted})


def test_nothing_shrinks_without_any_history(decide: Decide, observe: Observe) -> None:
    assert Patience().vet(decide({"a": 2}), observe({"a": 10})).plan == Plan({"a": 10})


def test_growth_passes_and_no_wish_of_the_past_makes_anything_grow(
    decide: Decide, observe: Observe, cycle: Remember
) -> None:
    wish = Plan({"a": 50, "b": 50})
    history = tuple(cycle(t, {"a": 10, "b": 5}, wanted=wish) for t in (600, 700, 800, 900))
    vetted = Patience().vet(decide({"a": 12, "b": 1}), observe({"a": 10, "b": 5}, t=1000, history=history))
    assert vetted.plan == Plan({"a": 12, "b": 5})


@pytest.mark.parametrize("code", [code for code in ReasonCode if code.origin is Origin.LOOP])
def test_a_hold_for_lack_of_knowledge_is_no_need(
    code: ReasonCode, decide: Decide, observe: Observe, remembered: Callable[..., tuple[Cycle, ...]]
) -> None:
    history = (*remembered({690: 3}), *remembered({800: 10}, code=code), *remembered({900: 3}))
    vetted = Patience(seconds=300).vet(decide({"a": 2}), observe({"a": 10}, t=1000, history=history))
    assert vetted.plan == Plan({"a": 3})


def test_a_time_without_knowledge_does_not_cover_the_window(
    decide: Decide, observe: Observe, remembered: Callable[..., tuple[Cycle, ...]]
) -> None:
    history = (*remembered({100: 10}, code=ReasonCode.MISSING_METRICS), *remembered({900: 3}))
    vetted = Patience(seconds=300).vet(decide({"a": 2}), observe({"a": 10}, t=1000, history=history))
    assert vetted.plan == Plan({"a": 10})
    assert vetted.verdicts[0].reason.text == "watched for less than 300 s: a 10 instead of 2"


def test_the_wishes_of_another_policy_do_not_count(
    decide: Decide, observe: Observe, remembered: Callable[..., tuple[Cycle, ...]]
) -> None:
    history = (*remembered({600: 3}), *remembered({800: 9}, policy="drs"), *remembered({900: 3}))
    assert Patience().vet(decide({"a": 2}), observe({"a": 10}, t=1000, history=history)).plan == Plan({"a": 3})


def test_executors_shrink_as_patiently_as_operators(decide: Decide, observe: Observe, cycle: Remember) -> None:
    present = Plan({"a": 10}, executors=8)
    history = tuple(cycle(t, present, wanted=Plan({"a": 10}, executors=t // 200)) for t in (600, 800, 900, 950))
    vetted = Patience().vet(decide(Plan({"a": 10}, executors=1)), observe(present, t=1000, history=history))
    assert vetted.plan == Plan({"a": 10}, executors=4)


def test_opinions_about_operators_that_are_gone_do_not_count(decide: Decide, observe: Observe, cycle: Remember) -> None:
    history = tuple(cycle(t, {"old": 7}) for t in (600, 800))
    assert Patience().vet(decide({"a": 2}), observe({"a": 10}, t=1000, history=history)).plan == Plan({"a": 10})


def test_a_return_to_an_earlier_plan_need_not_wait(decide: Decide, observe: Observe) -> None:
    decision = decide({"a": 2}, verdicts=(Verdict("roll_back", Reason(ReasonCode.ROLL_BACK, "")),))
    assert Patience().vet(decision, observe({"a": 10})) is decision


def test_zero_seconds_switch_it_off(decide: Decide, observe: Observe) -> None:
    decision = decide({"a": 2})
    assert Patience(seconds=0).vet(decision, observe({"a": 10})) is decision
