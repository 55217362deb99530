from __future__ import annotations

from collections.abc import Callable

import pytest

from penstock.guards.stabilisation import Stabilisation
from penstock.model import Cycle, Decision, InvalidValueError, Observation, Plan, ReasonCode

Decide = Callable[..., Decision]
Observe = Callable[..., Observation]
Remember = Callable[..., Cycle]


@pytest.mark.parametrize(("age", "held"), [(0, True), (119.9, True), (120, False), (600, False)])
def test_the_plan_is_held_for_two_minutes_after_a_change(
    age: float, held: bool, decide: Decide, observe: Observe, cycle: Remember
) -> None:
    observation = observe({"count": 4}, t=1000, history=(cycle(1000 - age, {"count": 2}, {"count": 4}),))
    vetted = Stabilisation().vet(decide({"count": 9}), observation)
    assert (vetted.plan == Plan({"count": 4})) is held
    assert [verdict.reason.code for verdict in vetted.verdicts] == [ReasonCode.STABILISING] * held


def test_without_a_change_nothing_is_held(decide: Decide, observe: Observe, cycle: Remember) -> None:
    decision = decide({"count": 9})
    assert Stabilisation().vet(decision, observe({"count": 4})) is decision
    steady = cycle(990, {"count": 4})
    only_thought_of = cycle(995, {"count": 4}, {"count": 8}, applied=False)
    observation = observe({"count": 4}, t=1000, history=(steady, only_thought_of))
    assert Stabilisation().vet(decision, observation) is decision


def test_a_steady_cycle_after_the_change_does_not_end_the_wait(
    decide: Decide, observe: Observe, cycle: Remember
) -> None:
    history = (cycle(900, {"count": 2}, {"count": 4}), cycle(960, {"count": 4}))
    assert Stabilisation().vet(decide({"count": 9}), observe({"count": 4}, t=1000, history=history)).verdicts


def test_wanting_what_is_in_force_needs_no_verdict(decide: Decide, observe: Observe, cycle: Remember) -> None:
    decision = decide({"count": 4})
    observation = observe({"count": 4}, t=1000, history=(cycle(990, {"count": 2}, {"count": 4}),))
    assert Stabilisation().vet(decision, observation) is decision


def test_zero_seconds_switch_it_off(decide: Decide, observe: Observe, cycle: Remember) -> None:
    decision = decide({"count": 9})
    observation = observe({"count": 4}, t=1000, history=(cycle(1000, {"count": 2}, {"count": 4}),))
    assert Stabilisation(seconds=0).vet(decision, observation) is decision


def test_a_time_below_zero_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="seconds must be a finite number of at least 0, not -1"):
        Stabilisation(seconds=-1)
