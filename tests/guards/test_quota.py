from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.guards.quota import Quota
from penstock.model import Decision, Execution, InvalidValueError, Observation, Operator, Plan, ReasonCode, Topology

Decide = Callable[..., Decision]
Observe = Callable[..., Observation]


def test_without_a_quota_everything_passes(decide: Decide, observe: Observe) -> None:
    decision = decide({"a": 100, "b": 100})
    assert Quota().vet(decision, observe({"a": 1, "b": 1})) is decision


def test_a_plan_that_fits_passes(decide: Decide, observe: Observe) -> None:
    decision = decide({"a": 6, "b": 4})
    assert Quota(slots=10).vet(decision, observe({"a": 1, "b": 1})) is decision


def test_everyone_keeps_the_same_share_of_what_was_wanted(decide: Decide, observe: Observe) -> None:
    vetted = Quota(slots=15).vet(decide({"a": 20, "b": 8, "c": 2}), observe({"a": 1, "b": 1, "c": 1}))
    assert vetted.plan == Plan({"a": 10, "b": 4, "c": 1})
    assert vetted.verdicts[0].reason.code is ReasonCode.QUOTA
    assert vetted.verdicts[0].reason.text == (
        "the quota is 15 slots: a 10 instead of 20, b 4 instead of 8, c 1 instead of 2"
    )


def test_what_is_left_over_goes_to_the_smallest_share(decide: Decide, observe: Observe) -> None:
    # six tenths leave 6, 6 and 1; of equals the first gets the one left over
    vetted = Quota(slots=14).vet(decide({"a": 10, "b": 10, "c": 1}), observe({"a": 1, "b": 1, "c": 1}))
    assert vetted.plan == Plan({"a": 7, "b": 6, "c": 1})


def test_no_operator_falls_below_its_min(decide: Decide, observe: Observe) -> None:
    job = Topology((Operator("a"), Operator("b", min=4)))
    assert Quota(slots=8).vet(decide({"a": 12, "b": 4}), observe({"a": 1, "b": 4}, job)).plan == Plan({"a": 4, "b": 4})


def test_spare_that_only_other_guards_asked_for_goes_first(decide: Decide, observe: Observe) -> None:
    """A backlog kept `b` at 6 though it needs 2; `a` needs 10 and 12 are allowed: nobody has to go short."""
    decision = decide({"a": 10, "b": 6}, wanted=Plan({"a": 10, "b": 2}))
    assert Quota(slots=12).vet(decision, observe({"a": 5, "b": 6})).plan == Plan({"a": 10, "b": 2})


def test_no_operator_gets_more_than_was_asked_for(decide: Decide, observe: Observe) -> None:
    decision = decide({"a": 4, "b": 8}, wanted=Plan({"a": 16, "b": 8}))  # a larger step was not allowed for `a`
    assert Quota(slots=11).vet(decision, observe({"a": 1, "b": 8})).plan == Plan({"a": 4, "b": 7})


def test_tied_operators_are_cut_as_one(decide: Decide, observe: Observe) -> None:
    job = Topology((Operator("join", tie="state"), Operator("count", tie="state"), Operator("write")))
    decision = decide({"join": 10, "count": 10, "write": 10})
    assert Quota(slots=14).vet(decision, observe({"join": 1, "count": 1, "write": 1}, job)).plan == Plan(
        {"join": 5, "count": 5, "write": 4}
    )


def test_slots_shared_in_turn_only_limit_the_widest_operator(decide: Decide, observe: Observe) -> None:
    observation = observe({"a": 1, "b": 1}, execution=Execution.SEQUENTIAL)
    decision = decide({"a": 20, "b": 8})
    assert Quota(slots=20).vet(decision, observation) is decision
    assert Quota(slots=12).vet(decision, observation).plan == Plan({"a": 12, "b": 8})


@pytest.mark.parametrize("execution", list(Execution))
def test_where_even_the_minima_are_too_many_they_are_the_plan(
    execution: Execution, decide: Decide, observe: Observe
) -> None:
    job = Topology((Operator("a", min=3), Operator("b", min=5)))
    vetted = Quota(slots=2).vet(decide({"a": 9, "b": 9}), observe({"a": 3, "b": 5}, job, execution=execution))
    assert vetted.plan == Plan({"a": 3, "b": 5})
    assert f"even the minima take {execution.slots(vetted.plan, job)}" in vetted.verdicts[0].reason.text
    assert Quota(slots=2).vet(vetted, observe({"a": 3, "b": 5}, job, execution=execution)) is vetted


def test_a_wish_beyond_the_limits_takes_nothing_from_the_others(decide: Decide, observe: Observe) -> None:
    job = Topology((Operator("a", max=4), Operator("b")))
    decision = decide({"a": 1000, "b": 6})
    assert Quota(slots=10).vet(decision, observe({"a": 1, "b": 1}, job)) is decision


def test_wishes_of_millions_are_cut_without_counting_them_down(decide: Decide, observe: Observe) -> None:
    job = Topology(tuple(Operator(name, max=10**12) for name in "abc"))
    decision = decide({"a": 10**12, "b": 10**9, "c": 1})
    plan = Quota(slots=10**9).vet(decision, observe({"a": 1, "b": 1, "c": 1}, job)).plan
    assert plan.total == 10**9
    assert plan["a"] / 10**12 == pytest.approx(plan["b"] / 10**9, rel=1e-2)


@given(
    wishes=st.lists(st.integers(1, 100), min_size=1, max_size=6),
    slots=st.integers(1, 300),
)
@settings(deadline=None)
def test_a_cut_plan_uses_the_whole_quota_and_no_other_cut_leaves_the_poorest_more(
    wishes: list[int], slots: int, decide: Decide, observe: Observe
) -> None:
    names = [f"operator{i}" for i in range(len(wishes))]
    need = dict(zip(names, wishes, strict=True))
    plan = Quota(slots=slots).vet(decide(need), observe(dict.fromkeys(names, 1))).plan
    assert plan.total == max(len(names), min(slots, sum(wishes)))
    # The poorest has share s. To raise all of them above s costs more than there is.
    poorest = min(plan[name] / need[name] for name in names)
    better = sum(min(need[name], int(poorest * need[name] + 1e-9) + 1) for name in names)
    assert poorest == 1 or better > slots


@pytest.mark.parametrize("slots", [0, -3, 2.5, True])
def test_a_quota_is_a_whole_number_of_at_least_one(slots: int) -> None:
    with pytest.raises(InvalidValueError, match="slots must be a whole number of at least 1"):
        Quota(slots=slots)


def test_operators_that_are_to_share_their_instances_are_cut_as_one(decide: Decide, observe: Observe) -> None:
    line = Topology.chain(Operator("a", readers=1), Operator("b", chained=True), Operator("c", chained=True))
    observation = observe({"a": 1, "b": 2, "c": 2}, line)
    vetted = Quota(slots=5).vet(decide({"a": 9, "b": 9, "c": 9}), observation)
    assert vetted.plan == Plan({"a": 4, "b": 4, "c": 4})  # one slot reads
    parted = Quota(slots=7).vet(decide({"a": 9, "b": 3, "c": 3}), observation)
    assert parted.plan == Plan({"a": 4, "b": 2, "c": 2})
