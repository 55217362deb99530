"""Whole stories of AuTraScale, AuTraScale+ and the straw-man drainers, on a small job that answers by formula."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import ClassVar

import pytest

from penstock.control.think import think
from penstock.guards import Guard
from penstock.model import (
    Cycle,
    Decision,
    Latency,
    Mode,
    Observation,
    Operator,
    OperatorSample,
    Plan,
    ReasonCode,
    Sample,
    Slo,
    Topology,
)
from penstock.policies import Policy
from penstock.policies.autrascale import AuTraScale
from penstock.policies.autrascale_plus import AuTraScalePlus
from penstock.policies.exponent import Exponent
from penstock.policies.max import Max
from penstock.policies.proportion import Proportion

WINDOW = 60.0


@dataclass
class Job:
    """A line of operators whose instances each process `speeds` records per second, and a backlog before them.

    Latency is `base_ms`, and `work_ms` of each operator (at the rate of `nominal`, and in proportion at others)
    shared by its instances. Throughput never exceeds `cap`, which stands for a store outside.
    """

    speeds: tuple[float, ...]
    rate: float
    work_ms: tuple[float, ...] = ()
    nominal: float = 150.0
    base_ms: float = 20.0
    cap: float = float("inf")
    ceiling: int = 40
    backlog: float = 0.0
    crowding: float = 0.0
    full_ms: float = 0.0  # what full buffers add while a backlog is worked off
    t: float = 0.0
    plan: Plan = field(init=False)
    topology: Topology = field(init=False)

    def __post_init__(self) -> None:
        names = [f"op{i}" for i in range(len(self.speeds))]
        operators = tuple(Operator(name, max=self.ceiling) for name in names)
        self.topology = Topology(operators, tuple(pairwise(names)))
        self.plan = Plan(dict.fromkeys(names, 1))
        self.work_ms = self.work_ms or (100.0,) * len(self.speeds)

    def set(self, *parallelism: int) -> Job:
        self.plan = Plan(dict(zip(self.topology.names, parallelism, strict=True)))
        return self

    @property
    def configuration(self) -> tuple[int, ...]:
        return tuple(self.plan[name] for name in self.topology.names)

    def speed(self, i: int) -> float:
        return self.speeds[i] / (1.0 + self.crowding * (self.configuration[i] - 1))

    @property
    def capacity(self) -> float:
        return min(self.cap, *(k * self.speed(i) for i, k in enumerate(self.configuration)))

    def run(self, seconds: float = WINDOW) -> Sample:
        before = self.backlog
        throughput = min(self.capacity, self.rate + before / seconds)
        self.backlog = max(0.0, before + (self.rate - throughput) * seconds)
        self.t += seconds
        work = sum(w / k for w, k in zip(self.work_ms, self.configuration, strict=True))
        latency = self.base_ms + work * self.rate / self.nominal + (self.full_ms if self.backlog else 0.0)
        waiting = 1e3 * (before + self.backlog) / 2 / throughput
        operators = {
            name: OperatorSample(
                parallelism=self.plan[name],
                records_in=throughput * seconds,
                records_out=throughput * seconds,
                useful_seconds=throughput * seconds / self.speed(i),
            )
            for i, name in enumerate(self.topology.names)
        }
        return Sample(
            t=self.t - seconds, seconds=seconds, operators=operators, input_rate=self.rate, throughput=throughput,
            backlog=self.backlog, processing_latency_ms=Latency(mean=latency),
            event_latency_ms=Latency(mean=latency + waiting),
        )  # fmt: skip


@dataclass
class Story:
    """A policy steering a job, one decision for each window."""

    job: Job
    policy: Policy
    slo: Slo
    guards: tuple[Guard, ...] = ()
    reborn: Callable[[Policy], Policy] = lambda policy: policy
    samples: list[Sample] = field(default_factory=list)
    history: list[Cycle] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)

    def observe(self) -> Observation:
        return Observation(
            t=self.job.t, topology=self.job.topology, slo=self.slo, plan=self.job.plan,
            samples=tuple(self.samples), history=tuple(self.history),
        )  # fmt: skip

    def turn(self) -> Decision:
        self.samples.append(self.job.run())
        self.policy = self.reborn(self.policy)
        decision = think(self.policy, self.guards, self.observe(), 1)
        decision.plan.check(self.job.topology)
        assert all(1 <= k <= self.job.ceiling for k in decision.plan.parallelism.values())
        json.dumps(decision.figures, default=dict)  # plain values only
        self.history.append(
            Cycle(t=self.job.t, mode=Mode.ACTIVE, before=self.job.plan, decision=decision, applied=True)
        )
        self.decisions.append(decision)
        self.job.plan = decision.plan
        return decision

    def until(self, phase: str, most: int = 60) -> int:
        """Turns until a decision of that phase."""
        for turns in range(1, most + 1):
            if self.turn().figures["phase"] == phase:
                return turns
        raise AssertionError(f"no {phase} in {most} turns: {[d.reason for d in self.decisions[-3:]]}")

    @property
    def tried(self) -> list[tuple[int, ...]]:
        return [tuple(decision.plan[name] for name in self.job.topology.names) for decision in self.decisions]


def through_json(policy: Policy) -> Policy:
    """The same policy in another process."""
    assert isinstance(policy, AuTraScale)
    options = {name: getattr(policy, name) for name in ("seed", "uniform_samples", "num", "policy_running_time")}
    other = type(policy)(**options)
    other.restore(json.loads(json.dumps(policy.state())))
    assert other == policy
    return other


# Throughput optimisation --------------------------------------------------------------------------------------

WORDCOUNT = (150e3, 120e3, 42e3, 52e3)  # records/s of one instance: 350k need 3; 450k need 4; 480k, 12; 504k, 10
QUERY_5 = (40e3, 2.3e3)
QUERY_11 = (110e3, 10.5e3)


@pytest.mark.parametrize(
    ("speeds", "rate", "expected"),
    [(WORDCOUNT, 350e3, (3, 4, 12, 10)), (QUERY_5, 30e3, (1, 18)), (QUERY_11, 100e3, (1, 11))],
)
@pytest.mark.parametrize("policy", [AuTraScale, AuTraScalePlus])
def test_from_all_ones_throughput_optimisation_ends_at_the_papers_plans_in_at_most_four_steps(
    policy: type[AuTraScale], speeds: tuple[float, ...], rate: float, expected: tuple[int, ...]
) -> None:
    story = Story(Job(speeds, rate), policy(), Slo())
    assert story.until("steady") <= 4
    assert story.job.configuration == expected
    assert story.decisions[0].reason.code is ReasonCode.SCALE_UP
    assert story.decisions[0].figures["throughput_parallelism"] == dict(
        zip(story.job.topology.names, expected, strict=True)
    )
    assert story.decisions[-1].reason.code is ReasonCode.STEADY


def test_a_job_capped_from_outside_ends_when_the_same_plan_comes_twice() -> None:
    story = Story(Job((20e3, 1.1e3), rate=60e3, cap=20e3), AuTraScale(), Slo())
    assert story.until("steady") <= 4
    assert story.decisions[-1].reason.code is ReasonCode.STEADY
    assert story.samples[-1].throughput == 20e3


def test_an_oversized_job_is_walked_down_before_its_latency_is_looked_at() -> None:
    story = Story(Job(WORDCOUNT, 350e3).set(36, 32, 24, 20), AuTraScale(), Slo())
    story.until("steady")
    assert story.job.configuration == (3, 4, 12, 10)
    assert story.decisions[0].reason.code is ReasonCode.SCALE_DOWN


def test_a_plan_that_keeps_up_with_less_than_the_walk_would_give_is_left_alone() -> None:
    story = Story(Job(WORDCOUNT, 350e3).set(3, 3, 9, 7), AuTraScale(), Slo())
    assert story.turn().reason.code is ReasonCode.STEADY
    assert story.job.configuration == (3, 3, 9, 7)


def test_a_walk_in_circles_ends() -> None:
    """Instances that slow each other down: each answer of the walk changes the question."""
    story = Story(Job((10.0, 9.0), rate=55.0, crowding=0.02), AuTraScale(), Slo())
    story.until("steady", most=12)
    assert story.samples[-1].throughput == pytest.approx(55.0, rel=0.3)


def test_a_plan_that_no_longer_keeps_up_sends_the_walk_off_again() -> None:
    story = Story(Job(QUERY_11, 100e3), AuTraScale(), Slo())
    story.until("steady")
    story.job.speeds = (110e3, 8e3)  # the second operator has become slower
    assert story.turn().figures["phase"] == "throughput optimisation"
    story.until("steady")
    assert story.job.configuration == (1, 14)


def test_a_rate_that_rises_within_tolerance_beyond_what_the_base_can_do_gets_a_larger_base() -> None:
    story = Story(Job((51.0, 200.0), rate=150.0), AuTraScale(), Slo())
    story.until("steady")
    assert story.job.configuration == (3, 1)  # up to 153 records/s
    story.job.rate = 160.0
    story.until("throughput optimisation", most=1)
    story.until("steady")
    assert story.job.configuration == (4, 2)
    assert story.decisions[-1].figures["model_rate"] == 150.0


# Processing latency ---------------------------------------------------------------------------------------------

LATENCY_JOB = {"speeds": (100.0, 50.0, 40.0), "rate": 150.0, "work_ms": (100.0, 400.0, 250.0), "ceiling": 20}
LATENCY_SLO = Slo(processing_latency="125 ms")


def latency_job(**changes: object) -> Job:
    return Job(**{**LATENCY_JOB, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize("policy", [AuTraScale, AuTraScalePlus])
def test_from_overload_to_inside_the_latency_target(policy: type[AuTraScale]) -> None:
    story = Story(latency_job(), policy(), LATENCY_SLO)
    story.until("steady")
    last, base = story.decisions[-1], story.decisions[-1].figures["throughput_parallelism"]
    assert story.samples[-1].processing_latency_ms.mean <= 125.0  # type: ignore[union-attr,operator]
    assert last.figures["score"] >= last.figures["score_threshold"] == pytest.approx(0.9)
    assert all(last.plan[name] >= k for name, k in base.items())
    phases = list(dict.fromkeys(decision.figures["phase"] for decision in story.decisions))
    assert phases == ["throughput optimisation", "bootstrap", "bayesian optimisation", "steady"]
    assert [story.turn().reason.code for _ in range(3)] == [ReasonCode.STEADY] * 3


def test_nothing_is_tried_twice_and_the_bootstrap_set_is_run_as_written() -> None:
    story = Story(latency_job(), AuTraScale(), LATENCY_SLO)
    story.until("steady")
    explored = [k for k, d in zip(story.tried, story.decisions, strict=True) if d.reason.code is ReasonCode.EXPLORE]
    assert len(explored) == len(set(explored))
    bootstrap = [k for k, d in zip(story.tried, story.decisions, strict=True) if d.figures["phase"] == "bootstrap"]
    assert bootstrap == [tuple(k) for k in story.decisions[-1].figures["bootstrap_set"]]


def test_a_latency_that_holds_at_the_base_needs_no_trials_at_all() -> None:
    story = Story(latency_job(), AuTraScale(), Slo(processing_latency="10 s"))
    assert story.until("steady") == 2


def test_a_target_out_of_reach_ends_with_the_best_plan_seen() -> None:
    story = Story(latency_job(base_ms=500.0), AuTraScale(max_iterations=4), LATENCY_SLO)
    turns = story.until("exhausted")
    assert turns <= 2 + 9 + 4 + 1
    story.turn()
    assert story.turn().reason.code is ReasonCode.STEADY
    seen = {k: d.figures["score"] for k, d in zip(story.tried, story.decisions[1:], strict=False)}
    assert seen[story.job.configuration] == max(seen.values())


def test_a_latency_that_rises_later_is_searched_again() -> None:
    story = Story(latency_job(), AuTraScale(), LATENCY_SLO)
    story.until("steady")
    story.job.work_ms = (100.0, 400.0, 350.0)
    assert story.turn().reason.code is ReasonCode.EXPLORE
    story.until("steady")
    assert story.samples[-1].processing_latency_ms.mean <= 125.0  # type: ignore[union-attr,operator]


@dataclass(frozen=True)
class AtMost(Guard):
    """A guard with a quota: it grants nothing beyond `k` instances of any operator."""

    k: int
    name: ClassVar[str] = "quota"

    def vet(self, decision: Decision, observation: Observation) -> Decision:
        smaller = decision.plan.changed({name: min(k, self.k) for name, k in decision.plan.parallelism.items()})
        if smaller == decision.plan:
            return decision
        return decision.vetted("quota", ReasonCode.QUOTA, f"at most {self.k}", smaller)


@pytest.mark.parametrize("policy", [AuTraScale, AuTraScalePlus])
def test_what_a_guard_refuses_is_not_asked_for_for_ever_and_samples_are_booked_as_they_ran(
    policy: type[AuTraScale],
) -> None:
    story = Story(latency_job(), policy(), LATENCY_SLO, guards=(AtMost(9),))
    story.until("steady")
    assert max(story.job.configuration) <= 9
    learner = story.policy
    assert isinstance(learner, AuTraScale)
    assert learner.library.current is not None
    assert all(max(k) <= 9 for k in learner.library.current.measured)
    wanted = [decision.wanted for decision in story.decisions if decision.verdicts]
    assert len(wanted) == len(set(wanted))


@dataclass(frozen=True)
class Every(Guard):
    """A guard that lets a plan stand for some cycles before it grants another."""

    cycles: int
    name: ClassVar[str] = "stabilisation"

    def vet(self, decision: Decision, observation: Observation) -> Decision:
        recent = observation.history[-self.cycles :]
        if decision.plan == observation.plan or not any(cycle.changed for cycle in recent):
            return decision
        return decision.vetted("stabilisation", ReasonCode.STABILISING, "not yet", observation.plan)


def test_a_wish_that_a_guard_only_puts_off_is_not_given_up() -> None:
    story = Story(latency_job(), AuTraScale(), LATENCY_SLO, guards=(Every(2),))
    story.until("steady", most=120)
    assert isinstance(story.policy, AuTraScale)
    assert story.policy.refused == []
    bootstrap = {tuple(k) for k in story.decisions[-1].figures["bootstrap_set"]}
    granted = {tuple(d.plan[name] for name in story.job.topology.names) for d in story.decisions if not d.verdicts}
    assert bootstrap <= granted


def test_a_walk_that_a_quota_stops_ends_there_until_the_rate_changes() -> None:
    story = Story(Job(WORDCOUNT, 350e3), AuTraScale(), Slo(), guards=(AtMost(7),))
    assert story.until("steady") <= 3
    assert story.job.configuration == (3, 4, 7, 7)
    assert isinstance(story.policy, AuTraScale)
    assert story.policy.refused == [(3, 4, 12, 10)]
    story.job.rate = 300e3
    story.turn()
    assert (3, 4, 12, 10) not in story.policy.refused


def test_windows_within_the_policy_running_time_teach_nothing() -> None:
    story = Story(latency_job(), AuTraScale(policy_running_time=2 * WINDOW), LATENCY_SLO)
    first = story.turn()
    assert first.reason.code is ReasonCode.SCALE_UP
    before = story.policy.state()  # type: ignore[attr-defined]
    held = [story.turn() for _ in range(2)]
    assert [decision.reason.code for decision in held] == [ReasonCode.WARMING_UP] * 2
    assert story.policy.state() == before  # type: ignore[attr-defined]
    assert story.turn().reason.code is ReasonCode.EXPLORE


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


def test_after_num_real_samples_the_transfer_is_left_for_algorithm_1() -> None:
    story = Story(latency_job(rate=150.0), AuTraScale(num=2), LATENCY_SLO)
    story.until("steady")
    story.job.rate, story.job.base_ms = 210.0, 500.0  # out of reach, so that it goes on
    phases = [story.turn().figures["phase"] for _ in range(6)]
    assert phases.count("transfer") <= 2
    assert phases[-1] == "bayesian optimisation"


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
    def tell(reborn: Callable[[Policy], Policy]) -> list[Decision]:
        slo = replace(DRAIN_SLO, processing_latency="125 ms")
        story = Story(latency_job(rate=150.0), policy(seed=7), slo, guards=(AtMost(18),), reborn=reborn)
        story.until("steady")
        story.job.backlog = 60e3
        for _ in range(14):  # it drains, and goes back
            story.turn()
        story.job.rate = 210.0
        story.until("steady")
        return story.decisions

    assert tell(through_json) == tell(lambda policy: policy)
