from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from penstock.guards.memory_first import MemoryFirst
from penstock.model import (
    Actuation,
    Cycle,
    Decision,
    InvalidValueError,
    Observation,
    Operator,
    OperatorSample,
    Plan,
    Reason,
    ReasonCode,
    Sample,
    Topology,
    Verdict,
)

Decide = Callable[..., Decision]
Observe = Callable[..., Observation]
MakeCycle = Callable[..., Cycle]

QUERY = Topology((Operator("state", max=16, stateful=True, actuation=Actuation.STATE_REPARTITION),))
GUARD = MemoryFirst(levels=2)


def window(t: float, hit_ratio: float | None) -> Sample:
    state = OperatorSample(2, state_cache_hit_ratio=hit_ratio)
    return Sample(t=t, seconds=60, operators={"state": state}, input_rate=100.0, throughput=100.0)


def at(level: int | None = None, k: int = 2) -> Plan:
    return Plan({"state": k}, memory_level=level)


def misses(observe: Observe, plan: Plan, hit_ratio: float | None = 0.3, **world: Any) -> Observation:
    return observe(plan, world.pop("topology", QUERY), samples=(window(9_940, hit_ratio),), **world)


@pytest.mark.parametrize(("level", "doubled"), [(None, 1), (0, 1), (1, 2)])
def test_a_growth_becomes_a_doubling_of_memory_where_state_is_read_from_disk(
    level: int | None, doubled: int, decide: Decide, observe: Observe
) -> None:
    vetted = GUARD.vet(decide(at(level, k=8)), misses(observe, at(level)))
    assert vetted.plan == at(doubled)
    (verdict,) = vetted.verdicts
    assert verdict.reason.code is ReasonCode.MEMORY_FIRST
    assert verdict.reason.text == (
        f"30% of the state that state read was in memory, less than 80%: {2**doubled} times the memory before more "
        "partitions"
    )


def test_executors_stay_as_they_are(decide: Decide, observe: Observe) -> None:
    grown, present = Plan({"state": 8}, executors=4), Plan({"state": 2}, executors=1)
    assert GUARD.vet(decide(grown), misses(observe, present)).plan == Plan({"state": 2}, executors=1, memory_level=1)


@pytest.mark.parametrize("hit_ratio", [0.8, 1.0, None])
def test_a_growth_passes_where_state_is_in_memory_or_nobody_knows(
    hit_ratio: float | None, decide: Decide, observe: Observe
) -> None:
    decision = decide(at(k=8))
    assert GUARD.vet(decision, misses(observe, at(), hit_ratio)) is decision


def test_a_growth_passes_when_memory_was_doubled_often_enough(decide: Decide, observe: Observe) -> None:
    decision = decide(at(2, k=8))
    assert GUARD.vet(decision, misses(observe, at(2))) is decision


def test_it_is_off_unless_somebody_says_how_often(decide: Decide, observe: Observe) -> None:
    decision = decide(at(k=8))
    assert MemoryFirst().vet(decision, misses(observe, at())) is decision


@pytest.mark.parametrize("k", [1, 2])
def test_what_does_not_grow_passes(k: int, decide: Decide, observe: Observe) -> None:
    decision = decide(at(k=k))
    assert GUARD.vet(decision, misses(observe, at())) is decision


@pytest.mark.parametrize("actuation", [Actuation.LIVE, Actuation.RESTART])
def test_only_queries_that_start_anew_with_their_state_can_be_given_memory(
    actuation: Actuation, decide: Decide, observe: Observe
) -> None:
    topology = Topology((Operator("state", max=16, stateful=True, actuation=actuation),))
    decision = decide(at(k=8))
    assert GUARD.vet(decision, misses(observe, at(), topology=topology)) is decision


@pytest.mark.parametrize(("before", "granted"), [(0.1, at(2)), (0.28, at(1, k=8))])
def test_memory_that_did_not_help_is_not_doubled_again(
    before: float, granted: Plan, decide: Decide, observe: Observe, cycle: MakeCycle
) -> None:
    doubling = cycle(9_000, at(), at(1), samples=(window(8_940, before),))
    vetted = GUARD.vet(decide(at(1, k=8)), misses(observe, at(1), history=(doubling,)))
    assert vetted.plan == granted


def test_after_a_growth_memory_is_tried_again(decide: Decide, observe: Observe, cycle: MakeCycle) -> None:
    growth = cycle(9_000, at(1), at(1, k=4), samples=(window(8_940, 0.3),))
    assert GUARD.vet(decide(at(1, k=8)), misses(observe, at(1, k=4), history=(growth,))).plan == at(2, k=4)


def test_a_return_to_an_earlier_plan_passes(decide: Decide, observe: Observe) -> None:
    decision = decide(at(k=8), verdicts=(Verdict("roll_back", Reason(ReasonCode.ROLL_BACK, "")),))
    assert GUARD.vet(decision, misses(observe, at())) is decision


@pytest.mark.parametrize(("option", "value"), [("levels", -1), ("hit_ratio", 1.5), ("hit_ratio", -0.1), ("gain", -1)])
def test_what_cannot_be_is_refused(option: str, value: float) -> None:
    with pytest.raises(InvalidValueError, match=f"^{option} must"):
        MemoryFirst(**{option: value})  # type: ignore[arg-type]
