from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from penstock.guards import chain
from penstock.guards.roll_back import RollBack
from penstock.model import (
    Cycle,
    Decision,
    InvalidValueError,
    Observation,
    Operator,
    Plan,
    ReasonCode,
    Sample,
    Slo,
    Topology,
)

Decide = Callable[..., Decision]
Observe = Callable[..., Observation]
Window = Callable[..., Sample]
Remember = Callable[..., Cycle]
Story = Callable[..., Observation]

CHANGE = 9_000.0
GOOD = {"processing_ms": 80.0}
SLOW = {"processing_ms": 130.0}
FOUR, THREE = Plan({"a": 4}), Plan({"a": 3})


def falling_behind(*backlogs: float, **figures: Any) -> list[dict[str, Any]]:
    return [{"throughput": 95.0, "backlog": backlog, **figures} for backlog in backlogs]


@pytest.fixture
def shrunk_from_4_to_3(observe: Observe, cycle: Remember, window: Window) -> Story:
    """At t = 9000 the job went from 4 instances to 3; `before` and `after` are its figures on both sides."""

    def build(before: list[dict[str, Any]], after: list[dict[str, Any]], **world: Any) -> Observation:
        by = world.pop("by", None)
        windows = tuple(window(CHANGE - 60 * (len(before) - i), **figures) for i, figures in enumerate(before))
        since = tuple(window(CHANGE + 60 * i, **figures) for i, figures in enumerate(after))
        history = (cycle(CHANGE, FOUR, THREE, samples=windows, by=by), *world.pop("later", ()))
        t = world.pop("t", CHANGE + 60 * len(after))
        return observe(world.pop("plan", THREE), t=t, history=history, samples=(*windows, *since), **world)

    return build


def test_a_wish_to_grow_beyond_the_plan_before_a_shrinking_passes(decide: Decide, shrunk_from_4_to_3: Story) -> None:
    decision = decide(Plan({"a": 6}))
    assert RollBack().vet(decision, shrunk_from_4_to_3([GOOD], [SLOW] * 3)) is decision


@pytest.mark.parametrize("wish", [THREE, Plan({"a": 2})])
def test_a_change_that_made_a_good_job_slow_is_taken_back_whatever_the_policy_wants(
    wish: Plan, decide: Decide, shrunk_from_4_to_3: Story
) -> None:
    vetted = RollBack().vet(decide(wish), shrunk_from_4_to_3([GOOD], [SLOW] * 3))
    assert vetted.plan == FOUR
    assert [(v.guard, v.reason.code) for v in vetted.verdicts] == [("roll_back", ReasonCode.ROLL_BACK)]
    assert vetted.verdicts[0].reason.text == "the change to a 3 made the job worse: back to a 4"


def test_a_policy_that_returns_by_itself_needs_no_verdict(decide: Decide, shrunk_from_4_to_3: Story) -> None:
    decision = decide(FOUR)
    assert RollBack().vet(decision, shrunk_from_4_to_3([GOOD], [SLOW] * 3)) is decision


def test_a_change_that_lets_the_job_fall_behind_is_taken_back(decide: Decide, shrunk_from_4_to_3: Story) -> None:
    observation = shrunk_from_4_to_3([GOOD], falling_behind(300, 600, 900))
    assert not RollBack().vet(decide(THREE), observation).verdicts  # two of the last three windows missed the target
    observation = shrunk_from_4_to_3([GOOD], falling_behind(300, 600, 900, 1200))
    assert RollBack().vet(decide(THREE), observation).plan == FOUR


@pytest.mark.parametrize(
    "after",
    [[], [SLOW] * 2, [SLOW, GOOD, SLOW], [GOOD] * 3],
    ids=["nothing measured", "too few windows", "windows disagree", "all well"],
)
def test_without_clear_evidence_the_change_stands(
    after: list[dict[str, Any]], decide: Decide, shrunk_from_4_to_3: Story
) -> None:
    decision = decide(THREE)
    assert RollBack().vet(decision, shrunk_from_4_to_3([GOOD], after)) is decision


@pytest.mark.parametrize(("rate", "taken_back"), [(90.0, True), (110.0, True), (111.0, False), (None, False)])
def test_a_heavier_load_excuses_the_change(
    rate: float | None, taken_back: bool, decide: Decide, shrunk_from_4_to_3: Story
) -> None:
    after = [{**SLOW, "input_rate": rate}] * 3
    assert bool(RollBack().vet(decide(THREE), shrunk_from_4_to_3([GOOD], after)).verdicts) is taken_back


def test_a_job_that_works_off_what_its_restart_piled_up_is_left_alone(
    decide: Decide, shrunk_from_4_to_3: Story
) -> None:
    decision = decide(THREE)
    draining = falling_behind(9000, 6000, 3000, throughput=150.0)
    assert RollBack().vet(decision, shrunk_from_4_to_3([GOOD], draining)) is decision
    late = [{"event_ms": latency} for latency in (9000.0, 6000.0, 3000.0)]
    slo = Slo(event_latency="1 s")
    assert RollBack().vet(decision, shrunk_from_4_to_3([GOOD], late, slo=slo)) is decision
    assert RollBack().vet(decision, shrunk_from_4_to_3([GOOD], late[::-1], slo=slo)).plan == FOUR


@pytest.mark.parametrize(("backlogs", "taken_back"), [((400.0, 150.0, 0.0), False), ((80.0, 40.0, 0.0), True)])
def test_records_are_late_until_the_last_one_that_waited_has_left(
    backlogs: tuple[float, ...], taken_back: bool, decide: Decide, shrunk_from_4_to_3: Story
) -> None:
    """The backlog is tolerable again, and falls by seconds of input or by less than one."""
    late = [{**SLOW, "backlog": backlog} for backlog in backlogs]
    observation = shrunk_from_4_to_3([GOOD], late)
    assert all(observation.slo.violations(window) == ("processing_latency",) for window in observation.samples[-3:])
    assert bool(RollBack().vet(decide(THREE), observation).verdicts) is taken_back


@pytest.mark.parametrize(("latency", "taken_back"), [(190.0, False), (200.0, True)])
def test_a_slow_job_must_have_become_much_slower(
    latency: float, taken_back: bool, decide: Decide, shrunk_from_4_to_3: Story
) -> None:
    observation = shrunk_from_4_to_3([SLOW, SLOW], [{"processing_ms": latency}] * 3)
    assert bool(RollBack().vet(decide(THREE), observation).verdicts) is taken_back


def test_a_job_that_was_good_and_bad_before_tells_nothing(decide: Decide, shrunk_from_4_to_3: Story) -> None:
    decision = decide(THREE)
    assert RollBack().vet(decision, shrunk_from_4_to_3([GOOD, SLOW], [{"processing_ms": 900.0}] * 3)) is decision


def test_behind_a_backlog_event_latency_rises_by_itself_and_blames_no_change(
    decide: Decide, shrunk_from_4_to_3: Story
) -> None:
    slo = Slo(event_latency="1 s")
    before = falling_behind(2000, event_ms=20_000.0)
    after = falling_behind(3000, 4000, 5000, event_ms=50_000.0)
    decision = decide(THREE)
    assert RollBack().vet(decision, shrunk_from_4_to_3(before, after, slo=slo)) is decision
    kept_up = [{"event_ms": 2000.0}], [{"event_ms": 4000.0}] * 3
    assert RollBack().vet(decision, shrunk_from_4_to_3(*kept_up, slo=slo)).plan == FOUR


@pytest.mark.parametrize(("throughput", "taken_back"), [(85.0, True), (95.0, False), (None, False)])
def test_more_throughput_is_worth_some_latency(
    throughput: float | None, taken_back: bool, decide: Decide, shrunk_from_4_to_3: Story
) -> None:
    before = falling_behind(2000, throughput=80.0, processing_ms=200.0)
    after = falling_behind(3000, 4000, 5000, throughput=throughput, processing_ms=400.0)
    assert bool(RollBack().vet(decide(THREE), shrunk_from_4_to_3(before, after)).verdicts) is taken_back


def test_an_old_change_is_not_blamed_for_todays_trouble(decide: Decide, shrunk_from_4_to_3: Story) -> None:
    decision = decide(THREE)
    after = [GOOD] * 12 + [SLOW] * 3
    assert RollBack().vet(decision, shrunk_from_4_to_3([GOOD], after)) is decision
    assert RollBack(trial_seconds=901).vet(decision, shrunk_from_4_to_3([GOOD], after)).plan == FOUR


def test_a_change_that_is_no_longer_in_force_is_not_taken_back(decide: Decide, shrunk_from_4_to_3: Story) -> None:
    decision = decide({"a": 7})
    observation = shrunk_from_4_to_3([GOOD], [SLOW] * 3, plan=Plan({"a": 7}))  # somebody did it by hand
    assert RollBack().vet(decision, observation) is decision


def test_a_roll_back_is_never_rolled_back(decide: Decide, shrunk_from_4_to_3: Story) -> None:
    decision = decide(THREE)
    observation = shrunk_from_4_to_3([GOOD], [SLOW] * 3, by=ReasonCode.ROLL_BACK)
    assert RollBack().vet(decision, observation) is decision


def test_no_other_guard_stands_in_the_way_back(
    decide: Decide, observe: Observe, cycle: Remember, window: Window
) -> None:
    """Growing from 2 to 16 choked the job: a backlog piles up and the policy wants still more."""
    large = Plan({"a": 16})
    history = (cycle(CHANGE, {"a": 2}, large, samples=(window(CHANGE - 60, **GOOD),)),)
    samples = tuple(window(CHANGE + 60 * i, throughput=50.0, backlog=3000.0 * (i + 1)) for i in range(3))
    decision = decide({"a": 30})
    for guard in chain():
        decision = guard.vet(decision, observe(large, t=CHANGE + 180, history=history, samples=samples))
    assert decision.plan == Plan({"a": 2})


@pytest.mark.parametrize(("throughput", "taken_back"), [(100.0, True), (91.0, True), (90.0, False), (None, False)])
def test_growth_is_not_blamed_for_a_job_that_was_falling_behind_already(
    throughput: float | None, taken_back: bool, decide: Decide, observe: Observe, cycle: Remember, window: Window
) -> None:
    """In a surge the backlog is small when growth is decided on, and large when it has come."""
    large = Plan({"a": 16})
    history = (cycle(CHANGE, {"a": 2}, large, samples=(window(CHANGE - 60, throughput=throughput),)),)
    samples = tuple(window(CHANGE + 60 * i, throughput=95.0, backlog=3000.0 * (i + 1)) for i in range(3))
    vetted = RollBack().vet(decide(large), observe(large, t=CHANGE + 180, history=history, samples=samples))
    assert bool(vetted.verdicts) is taken_back


@pytest.mark.parametrize(("in_force_after", "taken_back"), [(0.0, True), (1.0, False), (61.0, False)])
def test_what_was_measured_while_executors_were_awaited_is_not_held_against_the_change(
    in_force_after: float, taken_back: bool, decide: Decide, shrunk_from_4_to_3: Story
) -> None:
    observation = shrunk_from_4_to_3([GOOD], [SLOW] * 3)
    [change] = observation.history
    waited = replace(observation, history=(replace(change, change_seconds=in_force_after),))
    assert bool(RollBack().vet(decide(THREE), waited).verdicts) is taken_back


def test_without_history_everything_passes(decide: Decide, observe: Observe) -> None:
    decision = decide({"a": 1})
    assert RollBack().vet(decision, observe({"a": 4})) is decision


# After a roll-back -------------------------------------------------------------------------------------------------


@pytest.fixture
def rolled_back(observe: Observe, cycle: Remember, window: Window) -> Story:
    """At t = 9000 the job returned from the plan `bad` to the plan `good`, at 100 records/s."""

    def build(bad: Plan, good: Plan, age: float = 60.0, input_rate: float = 100.0) -> Observation:
        history = (cycle(CHANGE, bad, good, samples=(window(CHANGE - 60, **SLOW),), by=ReasonCode.ROLL_BACK),)
        samples = (window(CHANGE + age - 60, **GOOD, input_rate=input_rate),)
        return observe(good, t=CHANGE + age, history=history, samples=samples)

    return build


@pytest.mark.parametrize(("age", "held"), [(60, True), (1799, True), (1800, False)])
def test_the_plan_that_proved_bad_is_not_tried_again_for_half_an_hour(
    age: float, held: bool, decide: Decide, rolled_back: Story
) -> None:
    vetted = RollBack().vet(decide(THREE), rolled_back(THREE, FOUR, age=age))
    assert vetted.plan == (FOUR if held else THREE)
    if held:
        assert vetted.verdicts[0].reason.text == "a 3 made the job worse less than 1800 s ago"


@pytest.mark.parametrize(("asked", "held"), [(1, True), (3, True), (5, False), (9, False)])
def test_going_further_than_the_bad_plan_is_as_bad(asked: int, held: bool, decide: Decide, rolled_back: Story) -> None:
    vetted = RollBack().vet(decide({"a": asked}), rolled_back(THREE, FOUR))
    assert bool(vetted.verdicts) is held


@pytest.mark.parametrize(("asked", "held"), [(7, False), (8, True), (12, True), (3, False)])
def test_growth_that_proved_bad_is_not_repeated(asked: int, held: bool, decide: Decide, rolled_back: Story) -> None:
    vetted = RollBack().vet(decide({"a": asked}), rolled_back(Plan({"a": 8}), FOUR))
    assert bool(vetted.verdicts) is held


def test_a_surge_is_never_held_up_by_growth_that_proved_bad_at_a_lower_load(decide: Decide, rolled_back: Story) -> None:
    grows = decide({"a": 8})
    assert RollBack().vet(grows, rolled_back(Plan({"a": 8}), FOUR, input_rate=300.0)) is grows
    assert RollBack().vet(decide(THREE), rolled_back(THREE, FOUR, input_rate=300.0)).plan == FOUR


def test_only_what_the_bad_plan_changed_is_compared(decide: Decide, rolled_back: Story) -> None:
    observation = rolled_back(Plan({"a": 3, "b": 5}), Plan({"a": 4, "b": 5}))
    assert RollBack().vet(decide({"a": 3, "b": 9}), observation).plan == Plan({"a": 4, "b": 5})
    other = decide({"a": 4, "b": 3})
    assert RollBack().vet(other, observation) is other


def test_a_bad_plan_of_operators_that_are_gone_blocks_nothing(decide: Decide, rolled_back: Story) -> None:
    observation = rolled_back(Plan({"old": 3}), Plan({"old": 4}))
    renamed = replace(observation, plan=FOUR, topology=Topology((Operator("a"),)))
    decision = decide(THREE)
    assert RollBack().vet(decision, renamed) is decision


def test_a_bad_placement_is_not_tried_again_but_any_other_plan_may_be(decide: Decide, rolled_back: Story) -> None:
    bad, good = Plan({"a": 1}, placement={"a": ("w1",)}), Plan({"a": 1}, placement={"a": ("w2",)})
    assert RollBack().vet(decide(bad), rolled_back(bad, good)).plan == good
    other = decide({"a": 2})
    assert RollBack().vet(other, rolled_back(bad, good)) is other


@pytest.mark.parametrize(
    ("option", "value"),
    [("samples", 0), ("tolerance", -1), ("worse_factor", 0.9), ("trial_seconds", -1), ("seconds", -1)],
)
def test_options_out_of_range_are_refused(option: str, value: float) -> None:
    options: dict[str, Any] = {option: value}
    with pytest.raises(InvalidValueError, match=f"{option} must"):
        RollBack(**options)
