"""Stories of AuTraScale and AuTraScale+ when the rate changes, a backlog drains, or a process ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from autrascale_stories import LATENCY_SLO, WINDOW, AtMost, Job, Story, latency_job, through_json
from penstock.model import (
    Decision,
    ReasonCode,
    Slo,
)
from penstock.policies import Policy
from penstock.policies.autrascale import AuTraScale
from penstock.policies.autrascale_plus import AuTraScalePlus
from penstock.policies.exponent import Exponent
from penstock.policies.max import Max
from penstock.policies.proportion import Proportion

# A new rate -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", [AuTraScale, AuTraScalePlus])
def test_at_a_new_rate_a_transfer_needs_fewer_trials_than_a_start_from_scratch(policy: type[AuTraScale]) -> None:
    def uneven(rate: float) -> Job:
        return Job((160.0, 160.0, 160.0, 20.0), rate, work_ms=(60.0, 60.0, 60.0, 400.0), ceiling=30)

    slo = Slo(processing_latency="160 ms")
    story = Story(uneven(150.0), policy(), slo)
    story.until("steady")
    known = story.job.configuration
    story.job.rate = 210.0
    with_transfer = story.until("steady")
    assert "transfer" in {decision.figures["phase"] for decision in story.decisions[-with_transfer:]}
    assert story.samples[-1].processing_latency_ms.mean <= 160.0  # type: ignore[union-attr,operator]

    scratch = Story(uneven(210.0).set(*known), policy(), slo)
    assert with_transfer < scratch.until("steady")


def test_a_rate_that_was_seen_before_finds_its_plan_again_without_a_trial() -> None:
    story = Story(latency_job(rate=150.0), AuTraScale(), LATENCY_SLO)
    story.until("steady")
    story.job.rate = 210.0
    story.until("steady")
    story.job.rate = 150.0
    back = [story.turn() for _ in range(3)]
    assert {decision.figures["phase"] for decision in back} == {"steady"}
    assert back[-1].figures["score"] >= 0.9


def test_a_rate_that_wavers_within_tolerance_changes_nothing() -> None:
    story = Story(latency_job(rate=150.0), AuTraScale(), Slo(processing_latency="400 ms"))
    story.until("steady")
    for rate in (156.0, 145.0, 164.0, 136.0):
        story.job.rate = rate
        assert story.turn().reason.code is ReasonCode.STEADY
    story.job.rate = 166.0  # more than a tenth above 150
    assert story.turn().figures["model_rate"] == 166.0


@pytest.mark.parametrize("policy", [AuTraScale, AuTraScalePlus])
def test_after_num_real_samples_of_its_own_the_transfer_is_left_for_algorithm_1(policy: type[AuTraScale]) -> None:
    """Algorithm 2 counts the samples that it takes; the base was measured before it begins."""
    story = Story(latency_job(rate=150.0), policy(num=2), LATENCY_SLO)
    story.until("steady")
    story.job.rate, story.job.base_ms = 210.0, 500.0  # out of reach, so that it goes on
    phases = [story.turn().figures["phase"] for _ in range(6)]
    assert phases.count("transfer") == 2
    assert phases[-1] == "bayesian optimisation"


def test_without_num_a_transfer_ends_with_more_real_samples_than_the_bootstrap_set_has() -> None:
    story = Story(latency_job(rate=150.0), AuTraScale(uniform_samples=2), LATENCY_SLO)
    story.until("steady")
    story.job.rate, story.job.base_ms = 210.0, 500.0
    phases = [story.turn().figures["phase"] for _ in range(12)]
    assert phases.count("transfer") == 5  # with the base 6 real samples; the bootstrap set has 5


def test_the_lightweight_transfer_tries_no_bootstrap_sample() -> None:
    """Algorithm 2 of AuTraScale+ looks at the space without P_c."""
    story = Story(latency_job(rate=150.0), AuTraScalePlus(num=40, uniform_samples=20), LATENCY_SLO)
    story.until("steady")
    story.job.rate, story.job.base_ms = 210.0, 500.0
    for _ in range(16):
        story.turn()
    transferred = [d for d in story.decisions if d.figures["phase"] == "transfer"]
    assert len(transferred) > 8
    bootstrap = {tuple(k) for k in transferred[-1].figures["bootstrap_set"]}
    assert not bootstrap & {tuple(d.plan.parallelism.values()) for d in transferred}


def test_the_lightweight_transfer_ends_on_latency_alone_and_the_traditional_one_on_the_score_too() -> None:
    def ended(policy: AuTraScale) -> str:
        story = Story(latency_job(rate=150.0), policy, LATENCY_SLO)
        story.until("steady")
        story.job.rate = 210.0
        story.until("transfer")
        story.job.set(20, 20, 20)  # whoever put it there: it meets the latency, with a waste
        decision = story.turn()
        assert decision.figures["score"] < 0.9
        return str(decision.figures["phase"])

    assert ended(AuTraScalePlus(num=40)) == "steady"
    assert ended(AuTraScale(num=40)) != "steady"


# Event latency --------------------------------------------------------------------------------------------------

DRAIN_SLO = Slo(processing_latency="500 ms", event_latency="1 s", drain="10 min")


def settled(policy: Policy, slo: Slo = DRAIN_SLO, **changes: object) -> Story:
    story = Story(latency_job(**changes), policy, slo)
    for _ in range(8):
        story.turn()
    return story


def drained_after(story: Story, backlog: float, most: int = 30) -> float:
    """Seconds from the backlog's arrival to the window that meets the event latency again."""
    story.job.backlog = backlog
    began = story.job.t
    for _ in range(most):
        story.turn()
        if not story.slo.violations(story.samples[-1]):
            return story.samples[-1].end - began
    raise AssertionError(f"still {story.job.backlog:,.0f} records after {most} windows at {story.job.plan}")


@pytest.mark.parametrize("crowding", [0.0, 0.01])
def test_a_backlog_is_drained_within_its_limit_and_the_plan_goes_back(crowding: float) -> None:
    story = settled(AuTraScalePlus(), crowding=crowding)
    steady = story.job.configuration
    assert drained_after(story, backlog=60e3) <= 600.0 + 2 * WINDOW
    phases = [decision.figures["phase"] for decision in story.decisions]
    assert "event latency optimisation" in phases
    target = next(d for d in story.decisions if d.figures["phase"] == "event latency optimisation")
    assert target.figures["target_throughput"] == pytest.approx(
        150.0 + (story_backlog(target) - 150.0 * target.figures["l_wait_ms"] / 1e3) / target.figures["T_limit"]
    )
    story.turn()
    assert story.job.configuration == steady
    assert [story.turn().reason.code for _ in range(3)] == [ReasonCode.STEADY] * 3
    assert ReasonCode.RESTORE in {decision.reason.code for decision in story.decisions}


@pytest.mark.parametrize("policy", [AuTraScale, AuTraScalePlus])
def test_full_buffers_during_a_backlog_start_no_search_for_a_better_latency(policy: type[AuTraScale]) -> None:
    story = settled(policy())
    story.job.full_ms = 5_000.0
    steady, begun = story.job.configuration, len(story.decisions)
    drained_after(story, backlog=60e3, most=200)
    story.turn()
    assert story.job.configuration == steady
    phases = {decision.figures["phase"] for decision in story.decisions[begun:]}
    assert phases == {"steady"} if policy is AuTraScale else phases == {"steady", "event latency optimisation"}


def test_the_plan_goes_back_even_where_the_draining_one_would_do_for_the_latency() -> None:
    story = Story(latency_job().set(3, 5, 7), AuTraScalePlus(), DRAIN_SLO)
    for _ in range(4):
        story.turn()
    assert story.job.configuration == (2, 4, 5)
    drained_after(story, 60e3)
    assert (3, 5, 7) in story.tried
    story.turn()
    assert story.job.configuration == (2, 4, 5)


def story_backlog(decision: Decision) -> float:
    figures: Mapping[str, float] = decision.figures
    return figures["R_target"] + figures["R_steady"]


def test_a_drain_takes_less_than_everything() -> None:
    plus, most = settled(AuTraScalePlus()), settled(Max())
    drained_after(plus, 60e3)
    drained_after(most, 60e3)
    assert max(decision.plan.total for decision in most.decisions) == 60
    assert max(decision.plan.total for decision in plus.decisions) < 60


def test_what_busy_windows_showed_is_used_for_the_next_drain() -> None:
    story = settled(AuTraScalePlus())
    first = drained_after(story, 60e3)
    explored = sum(decision.reason.code is ReasonCode.EXPLORE for decision in story.decisions)
    for _ in range(3):
        story.turn()
    assert drained_after(story, 60e3) <= first
    assert sum(decision.reason.code is ReasonCode.EXPLORE for decision in story.decisions) == explored


def test_an_event_latency_within_target_starts_no_drain() -> None:
    story = settled(AuTraScalePlus())
    story.job.backlog = 50.0
    assert story.turn().reason.code is ReasonCode.STEADY


def test_a_new_rate_ends_a_drain() -> None:
    story = settled(AuTraScalePlus())
    story.job.backlog = 200e3
    story.turn()
    story.job.rate = 300.0
    assert story.turn().figures["phase"] != "event latency optimisation"


@pytest.mark.parametrize("policy", [Max(), Proportion(), Exponent()], ids=lambda policy: policy.name)
def test_a_straw_man_drains_and_comes_back_to_the_least_that_keeps_up(policy: Policy) -> None:
    story = settled(policy)
    base = story.job.configuration
    drained_after(story, backlog=60e3)
    story.turn()
    assert story.job.configuration == base


# In every phase, in any process ---------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", [AuTraScale, AuTraScalePlus])
def test_a_learner_restored_at_every_turn_does_exactly_what_one_process_does(policy: type[AuTraScale]) -> None:
    def decisions(reborn: Callable[[Policy], Policy]) -> list[Decision]:
        slo = replace(DRAIN_SLO, processing_latency="125 ms")
        story = Story(latency_job(rate=150.0), policy(seed=7), slo, guards=(AtMost(18),), reborn=reborn)
        story.until("steady")
        story.job.backlog = 60e3
        for _ in range(14):  # it drains, and goes back
            story.turn()
        story.job.rate = 210.0
        story.until("steady")
        return story.decisions

    assert decisions(through_json) == decisions(lambda policy: policy)
