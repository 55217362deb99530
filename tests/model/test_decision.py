"""A decision says where to go, why, and who had a word in it."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.model import Decision, Expected, FrozenMap, InvalidValueError, Plan, ReasonCode, direction

BEFORE = Plan({"a": 2, "b": 3}, executors=2)


@pytest.mark.parametrize(
    ("target", "code"),
    [
        (BEFORE, ReasonCode.STEADY),
        (BEFORE.changed(a=3), ReasonCode.SCALE_UP),
        (BEFORE.changed(a=3, b=4), ReasonCode.SCALE_UP),
        (BEFORE.changed(b=1), ReasonCode.SCALE_DOWN),
        (BEFORE.changed(a=3, b=2), ReasonCode.REBALANCE),
        (Plan({"a": 2, "b": 3}, executors=3), ReasonCode.SCALE_UP),
        (Plan({"a": 2, "b": 3}, executors=1), ReasonCode.SCALE_DOWN),
        (Plan({"a": 3, "b": 3}, executors=1), ReasonCode.REBALANCE),
        (Plan({"a": 2, "b": 3}), ReasonCode.STEADY),  # nobody asks for executors: that is no change of them
        (Plan({"a": 2, "b": 3, "c": 1}, executors=2), ReasonCode.SCALE_UP),
    ],
)
def test_the_direction_follows_from_the_two_plans(target: Plan, code: ReasonCode) -> None:
    assert direction(BEFORE, target) is code
    assert Decision.move(BEFORE, target, "because").reason.code is code


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3)), min_size=1, max_size=4))
def test_the_way_back_is_the_opposite_direction(pairs: list[tuple[int, int]]) -> None:
    here = Plan({f"op{i}": pair[0] for i, pair in enumerate(pairs)})
    there = Plan({f"op{i}": pair[1] for i, pair in enumerate(pairs)})
    opposite = {
        ReasonCode.SCALE_UP: ReasonCode.SCALE_DOWN,
        ReasonCode.SCALE_DOWN: ReasonCode.SCALE_UP,
        ReasonCode.REBALANCE: ReasonCode.REBALANCE,
        ReasonCode.STEADY: ReasonCode.STEADY,
    }
    assert direction(there, here) is opposite[direction(here, there)]


def test_a_decision_remembers_what_was_wanted_when_guards_change_it() -> None:
    wanted = BEFORE.changed(a=9)
    decision = Decision.move(BEFORE, wanted, "a is at 97 %", expected=Expected(throughput=10))
    vetted = decision.vetted("max_step", ReasonCode.MAX_STEP, "at most 2 at a time", BEFORE.changed(a=4))
    vetted = vetted.vetted("quota", ReasonCode.QUOTA, "no core left", BEFORE)
    assert vetted.wanted == wanted
    assert vetted.plan == BEFORE
    assert [verdict.guard for verdict in vetted.verdicts] == ["max_step", "quota"]
    assert vetted.reason == decision.reason
    assert vetted.expected is None  # it was expected of another plan
    assert decision.plan == decision.wanted == wanted


def test_a_hold_stays_with_the_plan() -> None:
    decision = Decision.hold(BEFORE, ReasonCode.STEADY, "all is well", figures={"load": {"a": 1}})
    assert decision.plan is BEFORE
    assert decision.wanted is BEFORE
    assert decision.figures == {"load": {"a": 1}}
    assert type(decision.figures) is FrozenMap


@pytest.mark.parametrize("value", [-1, math.nan, math.inf])
def test_nobody_expects_the_impossible(value: float) -> None:
    for figure in ("throughput", "processing_latency_ms", "event_latency_ms"):
        with pytest.raises(InvalidValueError) as refused:
            Expected(**{figure: value})
        assert str(refused.value) == f"expected {figure} must be a finite number of at least 0, not {value!r}"
