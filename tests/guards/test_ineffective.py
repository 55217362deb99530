from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from penstock.guards.ineffective import Ineffective
from penstock.model import (
    Cycle,
    Decision,
    InvalidValueError,
    Observation,
    Plan,
    Reason,
    ReasonCode,
    Sample,
    Slo,
    Verdict,
)

Decide = Callable[..., Decision]
Observe = Callable[..., Observation]
Window = Callable[..., Sample]
Remember = Callable[..., Cycle]
Story = Callable[..., Observation]

CHANGE = 9_000.0
BEHIND = {"input_rate": 100.0, "throughput": 80.0, "backlog": 20_000.0}
"""A database behind the job takes 80 records/s, whoever asks."""


@pytest.fixture
def grown_from_2_to_4(observe: Observe, cycle: Remember, window: Window) -> Story:
    """The operator `store` was doubled at t = 9000; `before` and `now` are the figures on both sides."""

    def build(
        before: dict[str, Any], *now: dict[str, Any], later: tuple[Cycle, ...] = (), present: int = 4, **world: Any
    ) -> Observation:
        growth = cycle(
            CHANGE, {"read": 1, "store": 2}, {"read": 1, "store": 4}, samples=(window(CHANGE - 60, **before),)
        )
        start = max((change.t for change in later), default=CHANGE)
        samples = tuple(window(start + 60 * i, **figures) for i, figures in enumerate(now))
        plan = {"read": 1, "store": present}
        t = world.pop("t", start + 60 * len(now))
        return observe(plan, t=t, history=(growth, *later), samples=(*growth.samples, *samples), **world)

    return build


def test_a_database_that_caps_the_job_does_not_make_it_grow_for_ever(decide: Decide, grown_from_2_to_4: Story) -> None:
    vetted = Ineffective().vet(decide({"read": 3, "store": 8}), grown_from_2_to_4(BEHIND, BEHIND))
    assert vetted.plan == Plan({"read": 3, "store": 4})  # read has never been grown: that is worth a try
    assert vetted.verdicts[0].reason == Reason(
        ReasonCode.INEFFECTIVE, "the last growth of store did not help, so something else holds the job back"
    )


@pytest.mark.parametrize(("throughput", "blocked"), [(87.9, True), (88.1, False), (95.0, False), (60.0, True)])
def test_doubling_must_bring_a_tenth_more_throughput(
    throughput: float, blocked: bool, decide: Decide, grown_from_2_to_4: Story
) -> None:
    observation = grown_from_2_to_4(BEHIND, {**BEHIND, "throughput": throughput})
    assert bool(Ineffective().vet(decide({"read": 1, "store": 8}), observation).verdicts) is blocked


def test_a_small_step_must_bring_little(decide: Decide, observe: Observe, cycle: Remember, window: Window) -> None:
    """From 20 to 21 instances a twentieth more is expected; a tenth of that is enough."""
    growth = cycle(9000, {"store": 20}, {"store": 21}, samples=(window(8940, **BEHIND),))
    for throughput, blocked in ((80.3, True), (80.5, False)):
        samples = (window(9000, **{**BEHIND, "throughput": throughput}),)
        observation = observe({"store": 21}, t=9060, history=(growth,), samples=samples)
        assert bool(Ineffective().vet(decide({"store": 22}), observation).verdicts) is blocked


def test_a_great_leap_needs_no_more_than_doubling(
    decide: Decide, observe: Observe, cycle: Remember, window: Window
) -> None:
    growth = cycle(9000, {"store": 1}, {"store": 10}, samples=(window(8940, **BEHIND),))
    samples = (window(9000, **{**BEHIND, "throughput": 95.0}),)
    decision = decide({"store": 11})
    assert Ineffective().vet(decision, observe({"store": 10}, t=9060, history=(growth,), samples=samples)) is decision


def test_a_growing_input_that_is_met_is_never_blocked(decide: Decide, grown_from_2_to_4: Story) -> None:
    """The job follows its input from 100 to 105 records/s; that its latency is still too high is no proof."""
    slow = {"input_rate": 100.0, "processing_ms": 150.0}
    decision = decide({"read": 1, "store": 8})
    assert Ineffective().vet(decision, grown_from_2_to_4(slow, {**slow, "input_rate": 105.0})) is decision


def test_a_growing_input_that_is_not_met_is_judged(decide: Decide, grown_from_2_to_4: Story) -> None:
    observation = grown_from_2_to_4(BEHIND, {**BEHIND, "input_rate": 200.0})
    assert Ineffective().vet(decide({"read": 1, "store": 8}), observation).verdicts


@pytest.mark.parametrize(("latency", "blocked"), [(200.0, True), (181.0, True), (179.0, False), (90.0, False)])
def test_a_latency_that_growth_does_not_lower_stops_the_growth(
    latency: float, blocked: bool, decide: Decide, grown_from_2_to_4: Story
) -> None:
    """The job keeps up with a steady input, but each record waits for an outside system."""
    observation = grown_from_2_to_4({"processing_ms": 200.0}, {"processing_ms": latency})
    assert bool(Ineffective().vet(decide({"read": 1, "store": 8}), observation).verdicts) is blocked


def test_a_job_that_is_fine_now_or_was_fine_before_may_grow(decide: Decide, grown_from_2_to_4: Story) -> None:
    decision = decide({"read": 1, "store": 8})
    assert Ineffective().vet(decision, grown_from_2_to_4(BEHIND, {})) is decision
    assert Ineffective().vet(decision, grown_from_2_to_4({}, BEHIND)) is decision


def test_another_target_missed_than_before_is_another_story(decide: Decide, grown_from_2_to_4: Story) -> None:
    decision = decide({"read": 1, "store": 8})
    assert Ineffective().vet(decision, grown_from_2_to_4(BEHIND, {"processing_ms": 150.0})) is decision


def test_growth_is_free_as_soon_as_the_outside_system_recovers(decide: Decide, grown_from_2_to_4: Story) -> None:
    recovered = {**BEHIND, "throughput": 120.0}
    decision = decide({"read": 1, "store": 8})
    assert Ineffective().vet(decision, grown_from_2_to_4(BEHIND, *[BEHIND] * 9, recovered)) is decision
    assert Ineffective().vet(decision, grown_from_2_to_4(BEHIND, recovered, BEHIND)).verdicts


@pytest.mark.parametrize(("age", "blocked"), [(1799, True), (1800, False)])
def test_after_half_an_hour_growth_may_be_tried_again(
    age: float, blocked: bool, decide: Decide, grown_from_2_to_4: Story
) -> None:
    observation = grown_from_2_to_4(BEHIND, BEHIND, t=CHANGE + age)
    assert bool(Ineffective().vet(decide({"read": 1, "store": 8}), observation).verdicts) is blocked


def test_nothing_is_judged_before_a_window_lies_wholly_after_the_change(
    decide: Decide, grown_from_2_to_4: Story
) -> None:
    decision = decide({"read": 1, "store": 8})
    assert Ineffective().vet(decision, grown_from_2_to_4(BEHIND)) is decision


def test_what_was_measured_while_executors_were_awaited_does_not_count(
    decide: Decide, grown_from_2_to_4: Story
) -> None:
    observation = grown_from_2_to_4(BEHIND, BEHIND)
    [growth] = observation.history
    waited = replace(observation, history=(replace(growth, change_seconds=1.0),))
    decision = decide({"read": 1, "store": 8})
    assert Ineffective().vet(decision, observation).verdicts
    assert Ineffective().vet(decision, waited) is decision


def test_a_later_change_of_another_operator_gets_its_chance(
    decide: Decide, grown_from_2_to_4: Story, cycle: Remember, window: Window
) -> None:
    """`read` was the bottleneck: once it grew the job improved, and `store` may follow."""
    later = cycle(CHANGE + 60, {"read": 1, "store": 4}, {"read": 2, "store": 4})
    decision = decide({"read": 1, "store": 8})

    def vetted(*now: dict[str, Any]) -> Decision:
        observation = grown_from_2_to_4(BEHIND, *now, later=(later,))
        first, *rest = observation.samples
        in_between = window(CHANGE, **BEHIND)
        return Ineffective().vet(decision, replace(observation, samples=(first, in_between, *rest)))

    assert vetted() is decision  # what was measured before `read` grew no longer counts
    assert vetted({**BEHIND, "throughput": 95.0}) is decision
    assert vetted(BEHIND).verdicts


def test_an_operator_that_shrank_since_may_grow_back(decide: Decide, grown_from_2_to_4: Story, cycle: Remember) -> None:
    """It helped once; load fell and it shrank; now the load is back and the figures are those of that time."""
    later = cycle(CHANGE + 600, {"read": 1, "store": 4}, {"read": 1, "store": 2})
    decision = decide({"read": 1, "store": 4})
    assert Ineffective().vet(decision, grown_from_2_to_4(BEHIND, BEHIND, later=(later,), present=2)) is decision


@pytest.mark.parametrize("figure", ["throughput", "input_rate"])
def test_what_was_not_measured_blocks_nothing(figure: str, decide: Decide, grown_from_2_to_4: Story) -> None:
    decision = decide({"read": 1, "store": 8})
    assert Ineffective().vet(decision, grown_from_2_to_4(BEHIND, {**BEHIND, figure: None})) is decision
    assert Ineffective().vet(decision, grown_from_2_to_4({**BEHIND, figure: None}, BEHIND)) is decision


def test_windows_in_which_the_job_was_settling_prove_nothing(decide: Decide, grown_from_2_to_4: Story) -> None:
    decision = decide({"read": 1, "store": 8})
    assert Ineffective().vet(decision, grown_from_2_to_4({**BEHIND, "warm_up": True}, BEHIND)) is decision


def test_executors_are_judged_like_operators(decide: Decide, observe: Observe, cycle: Remember, window: Window) -> None:
    small, large = Plan({"job": 8}, executors=2), Plan({"job": 8}, executors=4)
    history = (cycle(9000, small, large, samples=(window(8940, **BEHIND),)),)
    observation = observe(large, t=9060, history=history, samples=(window(9000, **BEHIND),))
    assert Ineffective().vet(decide(Plan({"job": 8}, executors=6)), observation).plan == large


def test_shrinking_and_returning_to_an_earlier_plan_pass(decide: Decide, grown_from_2_to_4: Story) -> None:
    shrinks = decide({"read": 1, "store": 3})
    assert Ineffective().vet(shrinks, grown_from_2_to_4(BEHIND, BEHIND)) is shrinks
    returns = decide({"read": 1, "store": 8}, verdicts=(Verdict("roll_back", Reason(ReasonCode.ROLL_BACK, "")),))
    assert Ineffective().vet(returns, grown_from_2_to_4(BEHIND, BEHIND)) is returns


def test_the_percentile_of_the_slo_counts(decide: Decide, grown_from_2_to_4: Story) -> None:
    slo = Slo(event_latency="1 s", statistic="p95")
    behind = {"event_ms": 2000.0}
    assert Ineffective().vet(decide({"read": 1, "store": 8}), grown_from_2_to_4(behind, behind, slo=slo)).verdicts


@pytest.mark.parametrize(("option", "value"), [("gain", -0.1), ("gain", 1.5), ("seconds", -1)])
def test_options_out_of_range_are_refused(option: str, value: float) -> None:
    with pytest.raises(InvalidValueError, match=f"{option} must"):
        Ineffective(**{option: value})
