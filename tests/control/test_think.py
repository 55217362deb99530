"""One thought, from new samples to a vetted decision."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import pytest

from penstock.control.think import as_learner, forecast, think
from penstock.guards import Guard
from penstock.guards.quota import Quota
from penstock.model import (
    Decision,
    Expected,
    Forecast,
    InvalidValueError,
    MissingFigureError,
    Observation,
    Operator,
    OperatorSample,
    PenstockError,
    Plan,
    ReasonCode,
    Sample,
    Slo,
    Topology,
)
from penstock.policies import Policy, State

TOPOLOGY = Topology((Operator("split"),))


def sample(t: float) -> Sample:
    figures = OperatorSample(1, records_in=1000, records_out=1000, useful_seconds=5)
    return Sample(t=t, seconds=10, operators={"split": figures}, input_rate=100)


def observation(count: int = 1) -> Observation:
    samples = tuple(sample(10.0 * i) for i in range(count))
    return Observation(t=10.0 * count, topology=TOPOLOGY, slo=Slo(), plan=Plan({"split": 1}), samples=samples)


@dataclass
class Suggests(Policy):
    """Always answers the same."""

    name: ClassVar[str] = "suggests"
    answer: Any

    def decide(self, observation: Observation) -> Decision:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer  # type: ignore[no-any-return]


@dataclass
class Learns(Policy):
    """Writes down what it was shown."""

    name: ClassVar[str] = "learns"
    breaks: Exception | None = None
    shown: list[tuple[float, ...]] = field(default_factory=list)

    def learn(self, observation: Observation) -> None:
        if self.breaks is not None:
            raise self.breaks
        self.shown.append(tuple(sample.t for sample in observation.samples))

    def decide(self, observation: Observation) -> Decision:
        return Decision.hold(observation.plan, ReasonCode.STEADY, f"learnt {len(self.shown)}")

    def state(self) -> State:
        return {}

    def restore(self, state: State) -> None: ...


@dataclass
class AtMost(Guard):
    name: ClassVar[str] = "at_most"
    most: int

    def vet(self, decision: Decision, observation: Observation) -> Decision:
        if decision.plan["split"] <= self.most:
            return decision
        plan = decision.plan.changed(split=self.most)
        return decision.vetted(self.name, ReasonCode.QUOTA, f"no more than {self.most}", plan)


def to(k: int, **details: Any) -> Suggests:
    return Suggests(Decision.move(Plan({"split": 1}), Plan({"split": k}), "because", **details))


def test_a_suggestion_bears_its_policys_name_and_what_to_expect_of_it() -> None:
    decision = think(to(3), [], observation(), 1)
    assert decision.policy == "suggests"
    assert decision.plan == Plan({"split": 3})
    assert decision.expected == Expected(throughput=100)


def test_what_the_policy_itself_expects_is_kept() -> None:
    assert think(to(3, expected=Expected(throughput=7)), [], observation(), 1).expected == Expected(throughput=7)


def test_guards_speak_in_their_order_each_about_what_the_last_one_left() -> None:
    decision = think(to(9, expected=Expected(throughput=7)), [AtMost(5), AtMost(7), AtMost(2)], observation(), 1)
    assert decision.plan == Plan({"split": 2})
    assert decision.wanted == Plan({"split": 9})
    assert [verdict.reason.text for verdict in decision.verdicts] == ["no more than 5", "no more than 2"]


def test_after_a_guard_the_expectation_is_that_of_the_plan_that_is_left() -> None:
    decision = think(to(9, expected=Expected(throughput=7)), [AtMost(2)], observation(), 1)
    assert decision.expected == Expected(throughput=100)


def test_a_missing_figure_is_a_hold_that_names_it() -> None:
    decision = think(Suggests(MissingFigureError("useful_seconds", "split")), [], observation(), 1)
    assert decision.plan == Plan({"split": 1})
    assert decision.reason.code is ReasonCode.MISSING_METRICS
    assert decision.reason.text == "useful_seconds of split was not measured"
    assert decision.policy == "suggests"


def test_a_figure_that_is_missing_to_a_learner_is_a_hold_too() -> None:
    decision = think(Learns(breaks=MissingFigureError("queue", "split")), [], observation(), 1)
    assert decision.reason.code is ReasonCode.MISSING_METRICS


def test_an_answer_that_is_no_decision_is_refused() -> None:
    with pytest.raises(PenstockError, match="it answered 'more!' instead of a Decision"):
        think(Suggests("more!"), [], observation(), 1)


@pytest.mark.parametrize(
    ("plan", "sentence"),
    [
        (Plan({"split": 1, "cuont": 1}), "plan: operator 'cuont' is not known"),
    ],
)
def test_a_plan_for_another_job_is_refused(plan: Plan, sentence: str) -> None:
    with pytest.raises(InvalidValueError, match=sentence):
        think(Suggests(Decision.hold(plan, ReasonCode.STEADY, "")), [], observation(), 1)


def test_a_learner_sees_each_new_sample_in_turn_and_nothing_later() -> None:
    learner = Learns()
    decision = think(learner, [], observation(4), 3)
    assert learner.shown == [(0, 10), (0, 10, 20), (0, 10, 20, 30)]
    assert decision.reason.text == "learnt 3"  # it learns first, then decides


def test_a_learner_sees_nothing_twice() -> None:
    learner = Learns()
    think(learner, [], observation(4), 0)
    assert learner.shown == []


def test_more_new_samples_than_the_window_holds_are_as_many_as_it_holds() -> None:
    learner = Learns()
    think(learner, [], observation(2), 5)
    assert learner.shown == [(0,), (0, 10)]


def test_only_a_policy_that_learns_is_a_learner() -> None:
    learner = Learns()
    assert as_learner(learner) is learner
    assert as_learner(to(1)) is None


# Forecasts ---------------------------------------------------------------------------------------------------


@dataclass
class Repeats:
    """Predicts the last rate it learnt, and knows how wrong it was."""

    name: ClassVar[str] = "repeats"
    source: ClassVar[str] = ""
    mean_absolute_error: float = 2.5
    learnt: list[tuple[float, float]] = field(default_factory=list)

    def learn(self, t: float, rate: float) -> None:
        self.learnt.append((t, rate))

    def predict(self, seconds_ahead: float) -> float | None:
        return self.learnt[-1][1] if self.learnt else None

    def state(self) -> State:
        return {"learnt": self.learnt}

    def restore(self, state: State) -> None:
        self.learnt = list(state["learnt"])


def test_a_forecaster_learns_the_rates_at_the_ends_of_their_windows() -> None:
    forecaster = Repeats()
    unmeasured = Sample(t=20, seconds=10, operators={})
    expected = forecast(forecaster, [sample(0), sample(10), unmeasured], 60)
    assert forecaster.learnt == [(10, 100), (20, 100)]
    assert expected == Forecast("repeats", 100, 2.5)


def test_a_forecaster_that_knows_nothing_yet_forecasts_nothing() -> None:
    assert forecast(Repeats(), [], 60) is None


@dataclass
class Looks(Policy):
    """Holds, and keeps what it saw."""

    name: ClassVar[str] = "looks"
    seen: list[Observation] = field(default_factory=list)

    def decide(self, observation: Observation) -> Decision:
        self.seen.append(observation)
        return Decision.hold(observation.plan, ReasonCode.STEADY, "it looks")


@pytest.mark.parametrize(
    ("guards", "most"), [((), None), ((Quota(),), None), ((Quota(slots=9), Quota(), Quota(slots=7)), 7)]
)
def test_a_policy_knows_the_most_slots_that_the_guards_let_it_take(guards: tuple[Guard, ...], most: int | None) -> None:
    policy = Looks()
    think(policy, guards, observation(), fresh=1)
    assert [each.most_slots for each in policy.seen] == [most]
