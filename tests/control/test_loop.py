"""The loop as its owner sees it: whatever goes wrong inside, the job keeps its plan and the loop goes on."""

import logging
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import pytest

from penstock.control.loop import Loop, Settings
from penstock.model import (
    Cycle,
    Decision,
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
from penstock.policies import Policy, State
from penstock.stores.memory import MemoryStore

TOPOLOGY = Topology((Operator("split"),))
SMALL, LARGE = Plan({"split": 1}), Plan({"split": 2})


def sample(t: float, rate: float = 100, warm_up: bool = False) -> Sample:
    figures = OperatorSample(1, records_in=1000, records_out=1000, useful_seconds=5)
    return Sample(t=t, seconds=10, operators={"split": figures}, input_rate=rate, warm_up=warm_up)


# A job and its loop, small enough to see through -----------------------------------------------------------


@dataclass
class Ticks:
    """A clock that goes on by ten seconds each time it is asked."""

    t: float = 0.0

    def now(self) -> float:
        self.t += 10
        return self.t


@dataclass
class Script:
    """A monitor that reads what was written for it, one entry for each cycle; an error in it is raised."""

    readings: list[Any]

    def read(self) -> Sequence[Sample]:
        reading = self.readings.pop(0) if self.readings else []
        if isinstance(reading, Exception):
            raise reading
        return reading


@dataclass
class Job:
    """An actuator that holds a plan, and can be broken."""

    in_force: Plan = SMALL
    blind: bool = False
    stuck: bool = False

    def plan(self) -> Plan:
        if self.blind:
            raise ConnectionError("no route to the driver")
        return self.in_force

    def apply(self, plan: Plan) -> None:
        if self.stuck:
            raise ConnectionError("no route to the driver")
        self.in_force = plan


@dataclass
class Wants(Policy):
    """Wants one plan, whatever it sees; an error is raised. Writes down what it saw."""

    name: ClassVar[str] = "wants"
    answer: Any = LARGE
    seen: list[Observation] = field(default_factory=list)

    def decide(self, observation: Observation) -> Decision:
        self.seen.append(observation)
        if isinstance(self.answer, Exception):
            raise self.answer
        if isinstance(self.answer, Plan):
            return Decision.move(observation.plan, self.answer, "it wants to")
        return self.answer  # type: ignore[no-any-return]


@dataclass
class Counts(Policy):
    """A learner that counts the samples it was shown."""

    name: ClassVar[str] = "counts"
    times: list[float] = field(default_factory=list)
    poison: float | None = None
    mute: bool = False

    def learn(self, observation: Observation) -> None:
        if observation.latest.t == self.poison:
            raise ZeroDivisionError("bad sample")
        self.times.append(observation.latest.t)

    def decide(self, observation: Observation) -> Decision:
        return Decision.hold(observation.plan, ReasonCode.STEADY, f"learnt {len(self.times)}")

    def state(self) -> State:
        if self.mute:
            raise ZeroDivisionError("lost count")
        return {"times": self.times}

    def restore(self, state: State) -> None:
        self.times = list(state["times"])


@dataclass
class Hangs(Policy):
    """A learner that does not answer until it is released."""

    name: ClassVar[str] = "hangs"
    release: threading.Event = field(default_factory=threading.Event)
    learnt: list[float] = field(default_factory=list)

    def learn(self, observation: Observation) -> None:
        self.learnt.append(observation.latest.t)

    def decide(self, observation: Observation) -> Decision:
        self.release.wait()
        return Decision.move(observation.plan, LARGE, "at last")

    def state(self) -> State:
        return {"learnt": self.learnt}

    def restore(self, state: State) -> None: ...


@dataclass
class Doubles:
    """A forecaster that expects twice what it saw last."""

    name: ClassVar[str] = "doubles"
    source: ClassVar[str] = ""
    broken: bool = False
    rates: list[float] = field(default_factory=list)

    def learn(self, t: float, rate: float) -> None:
        if self.broken:
            raise ZeroDivisionError("no slope")
        self.rates.append(rate)

    def predict(self, seconds_ahead: float) -> float | None:
        return 2 * self.rates[-1] if self.rates else None

    @property
    def mean_absolute_error(self) -> float | None:
        return None

    def state(self) -> State:
        return {"rates": self.rates}

    def restore(self, state: State) -> None:
        self.rates = list(state["rates"])


class BrokenStore(MemoryStore):
    """Fails for as long as it is broken."""

    broken = True

    def record(self, cycle: Cycle, policy: str, state: State | None = None) -> None:
        self._fail()
        super().record(cycle, policy, state)

    def recent(self, count: int) -> Sequence[Cycle]:
        self._fail()
        return super().recent(count)

    def _fail(self) -> None:
        if self.broken:
            raise OSError("disk is full")


def a_loop(readings: Sequence[Any] = ([sample(0)], [sample(10)], [sample(20)]), **parts: Any) -> Loop:
    defaults: dict[str, Any] = {
        "topology": TOPOLOGY,
        "slo": Slo(),
        "policy": Wants(),
        "monitor": Script(list(readings)),
        "actuator": Job(),
        "store": MemoryStore(),
        "clock": Ticks(),
        "settings": Settings(interval_seconds=10, policy_limit_seconds=None),
    }
    return Loop(**(defaults | parts))


def code(cycle: Cycle) -> ReasonCode:
    return cycle.decision.reason.code


# How far it may go -------------------------------------------------------------------------------------------


def test_an_active_loop_acts_and_records_exactly_one_cycle() -> None:
    loop = a_loop()
    cycle = loop.run_once()
    assert loop.actuator.plan() == LARGE
    assert cycle.changed
    assert (cycle.t, cycle.before, cycle.decision.plan) == (10, SMALL, LARGE)
    assert cycle.samples == (sample(0),)
    assert list(loop.store.recent(10)) == [cycle]


def test_a_monitoring_loop_decides_and_records_and_never_acts() -> None:
    loop = a_loop(mode=Mode.MONITOR)
    cycle = loop.run_once()
    assert loop.actuator.plan() == SMALL
    assert cycle.decision.plan == LARGE
    assert not cycle.applied
    assert list(loop.store.recent(10)) == [cycle]


def test_a_loop_that_is_off_does_not_even_ask() -> None:
    policy = Wants()
    loop = a_loop(mode=Mode.OFF, policy=policy)
    cycle = loop.run_once()
    assert code(cycle) is ReasonCode.SWITCHED_OFF
    assert policy.seen == []
    assert not cycle.applied


def test_a_policy_sees_the_cycles_before_this_one() -> None:
    policy = Wants()
    loop = a_loop(policy=policy)
    first, second, _ = (loop.run_once() for _ in range(3))
    assert [observation.history for observation in policy.seen] == [(), (first,), (first, second)]
    assert policy.seen[2].last_change == first


def test_the_windows_are_bounded() -> None:
    policy = Wants()
    settings = Settings(10, policy_limit_seconds=None, remembered_samples=2, remembered_cycles=1)
    loop = a_loop(policy=policy, settings=settings)
    for _ in range(3):
        loop.run_once()
    assert [s.t for s in policy.seen[-1].samples] == [10, 20]
    assert len(policy.seen[-1].history) == 1


# A policy that cannot be trusted -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (ValueError("no idea"), "wants failed: ValueError: no idea"),
        ("more!", "wants failed: it answered 'more!' instead of a Decision"),
        (None, "wants failed: it answered None instead of a Decision"),
        (Plan({"splt": 2}), "wants failed: plan: operator 'splt' is not known; did you mean 'split'?"),
    ],
)
def test_a_policy_that_fails_is_a_hold_and_the_loop_goes_on(answer: Any, text: str) -> None:
    policy = Wants(answer)
    loop = a_loop(policy=policy)
    cycle = loop.run_once()
    assert code(cycle) is ReasonCode.POLICY_FAILED
    assert cycle.decision.reason.text.startswith(text)
    assert cycle.decision.plan == SMALL
    assert cycle.decision.policy == "wants"
    policy.answer = LARGE
    assert loop.run_once().changed


def test_a_policy_that_hangs_is_a_hold_until_it_answers() -> None:
    policy = Hangs()
    loop = a_loop(policy=policy, settings=Settings(interval_seconds=10, policy_limit_seconds=0.01))
    try:
        first, second = loop.run_once(), loop.run_once()
    finally:
        policy.release.set()
    assert [code(first), code(second)] == [ReasonCode.POLICY_TOO_SLOW] * 2
    assert first.decision.reason.text == "hangs was too slow: no answer within 0.01 s"
    assert second.decision.reason.text == "hangs was too slow: an earlier call is still running"
    assert loop.actuator.plan() == SMALL
    assert loop.store.state("hangs") is None  # what it knows is not copied while it is still at work
    _wait_for(loop)
    assert loop.run_once().changed
    assert policy.learnt == [0, 10, 20]  # the sample that came while it hung is not lost
    assert loop.store.state("hangs") == {"learnt": [0, 10, 20]}


def _wait_for(loop: Loop) -> None:
    """Until the call left behind has ended; from then on there is time enough."""
    assert loop._deadline._left_behind is not None
    loop._deadline._left_behind.join()
    loop._deadline.seconds = 60


# Metrics that cannot be trusted ------------------------------------------------------------------------------


def test_without_metrics_nothing_is_scaled() -> None:
    loop = a_loop(readings=[[]])
    assert code(loop.run_once()) is ReasonCode.MISSING_METRICS
    assert loop.actuator.plan() == SMALL


def test_stale_metrics_scale_nothing() -> None:
    loop = a_loop(readings=[[sample(0)]], actuator=Job(), mode=Mode.MONITOR)
    # The window ended at 10; each cycle is ten seconds later, and three intervals are too old.
    codes = [code(loop.run_once()) for _ in range(5)]
    assert codes == [ReasonCode.SCALE_UP] * 4 + [ReasonCode.STALE_METRICS]
    assert loop.run_once().decision.reason.text == "the newest measurement is 50 s old"


def test_warm_up_windows_are_left_out() -> None:
    policy = Wants()
    loop = a_loop(readings=[[sample(0, warm_up=True)], [sample(10, warm_up=True), sample(20)]], policy=policy)
    first = loop.run_once()
    assert code(first) is ReasonCode.WARMING_UP
    assert first.samples == (sample(0, warm_up=True),)  # recorded, though it does not count
    loop.run_once()
    assert [s.t for s in policy.seen[0].samples] == [20]


@pytest.mark.parametrize("reading", [OSError("connection reset"), None, ["twelve"]])
def test_a_monitor_that_fails_is_a_hold_and_the_loop_goes_on(reading: Any) -> None:
    loop = a_loop(readings=[reading, [sample(10)]])
    cycle = loop.run_once()
    assert code(cycle) is ReasonCode.MONITOR_FAILED
    assert cycle.decision.reason.text.startswith("the metrics could not be read: ")
    assert cycle.samples == ()
    assert loop.run_once().changed


# A cluster that cannot be reached ----------------------------------------------------------------------------


def test_a_change_that_cannot_be_made_keeps_the_old_plan_and_records_the_problem() -> None:
    job = Job(stuck=True)
    loop = a_loop(actuator=job)
    cycle = loop.run_once()
    assert not cycle.applied
    assert not cycle.changed
    assert cycle.problem == "the change could not be made: ConnectionError: no route to the driver"
    assert job.in_force == SMALL
    job.stuck = False
    assert loop.run_once().changed


def test_a_plan_that_cannot_be_read_is_a_hold_on_the_last_one_known() -> None:
    job = Job()
    loop = a_loop(actuator=job)
    loop.run_once()
    job.blind = True
    cycle = loop.run_once()
    assert code(cycle) is ReasonCode.MONITOR_FAILED
    assert cycle.before == cycle.decision.plan == LARGE
    assert "ConnectionError: no route to the driver" in cycle.decision.reason.text
    job.blind = False
    assert code(loop.run_once()) is ReasonCode.STEADY


# A store that cannot be reached ------------------------------------------------------------------------------


def test_a_lost_store_is_told_once_and_the_loop_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    store = BrokenStore()
    loop = a_loop(store=store)
    with caplog.at_level(logging.WARNING, "penstock"):
        assert loop.run_once().changed
        loop.run_once()
        assert [r.getMessage() for r in caplog.records] == [
            "the store is lost, the loop goes on without it: OSError: disk is full"
        ]
        store.broken = False
        third = loop.run_once()
        assert list(store.recent(10)) == [third]
        store.broken = True
        loop.run_once()
        assert len(caplog.records) == 2  # lost anew is news again


def test_a_loop_whose_store_is_broken_starts_afresh(caplog: pytest.LogCaptureFixture) -> None:
    loop = a_loop(store=BrokenStore())
    assert loop.resume() is None
    assert "the store cannot be read, the loop starts afresh: OSError: disk is full" in caplog.text
    assert loop.run_once().changed


# Learners and forecasters ------------------------------------------------------------------------------------


def test_a_learner_sees_each_new_sample_in_turn() -> None:
    learner = Counts()
    loop = a_loop(readings=[[sample(0), sample(10)], [], [sample(20)]], policy=learner)
    for _ in range(3):
        loop.run_once()
    assert learner.times == [0, 10, 20]
    assert loop.store.state("counts") == {"times": [0, 10, 20]}


def test_samples_that_were_stale_when_they_came_are_learnt_with_the_next_ones() -> None:
    learner = Counts()
    loop = a_loop(readings=[[sample(0)], [sample(990)]], policy=learner, clock=Ticks(900))
    assert code(loop.run_once()) is ReasonCode.STALE_METRICS
    assert learner.times == []
    loop.clock = Ticks(990)
    loop.run_once()
    assert learner.times == [0, 990]


def test_a_learner_that_breaks_on_a_sample_is_a_hold_and_learns_from_the_next() -> None:
    learner = Counts(poison=10)
    loop = a_loop(policy=learner)
    codes = [code(loop.run_once()) for _ in range(3)]
    assert codes == [ReasonCode.STEADY, ReasonCode.POLICY_FAILED, ReasonCode.STEADY]
    assert learner.times == [0, 20]


def test_a_learner_that_cannot_say_what_it_knows_costs_no_cycle(caplog: pytest.LogCaptureFixture) -> None:
    learner = Counts()
    loop = a_loop(policy=learner)
    loop.run_once()
    learner.mute = True
    loop.run_once()
    loop.run_once()
    assert len(loop.store.recent(10)) == 3
    assert loop.store.state("counts") == {"times": [0]}
    assert [r.getMessage() for r in caplog.records] == [
        "counts cannot say what it knows: ZeroDivisionError: lost count"
    ]


def test_a_forecast_reaches_the_policy() -> None:
    policy = Wants()
    loop = a_loop(readings=[[sample(0, rate=100)], [sample(10, rate=150)]], policy=policy, forecaster=Doubles())
    loop.run_once()
    loop.run_once()
    forecasts = [observation.forecast for observation in policy.seen]
    assert [(f.forecaster, f.input_rate) for f in forecasts if f is not None] == [("doubles", 200), ("doubles", 300)]


def test_a_forecaster_that_fails_is_a_hold_that_names_it() -> None:
    cycle = a_loop(forecaster=Doubles(broken=True)).run_once()
    assert code(cycle) is ReasonCode.POLICY_FAILED
    assert cycle.decision.reason.text == (
        "wants failed: its forecaster doubles failed: ZeroDivisionError: no slope"
    )  # fmt: skip


# Another process takes over ----------------------------------------------------------------------------------


def test_a_new_process_takes_up_window_models_and_plan() -> None:
    store = MemoryStore()
    first = a_loop(readings=[[sample(0, warm_up=True), sample(0)], [sample(10)]], policy=Counts(), store=store)
    first.actuator.apply(LARGE)
    history = (first.run_once(), first.run_once())

    learner, forecaster = Counts(), Doubles()
    second = a_loop(readings=[[sample(20)]], policy=learner, forecaster=forecaster, store=store, clock=Ticks(20))
    assert second.resume() == LARGE
    assert learner.times == [0, 10]
    second.run_once()
    assert learner.times == [0, 10, 20]  # nothing is learnt twice
    assert forecaster.rates == [100, 100, 100]
    assert tuple(second._history)[:2] == history
    assert [s.t for s in second._samples] == [0, 10, 20]


def test_the_plan_taken_up_is_the_one_in_force_not_the_one_wanted() -> None:
    store = MemoryStore()
    a_loop(store=store, mode=Mode.MONITOR).run_once()
    assert a_loop(store=store).resume() == SMALL
    a_loop(store=store, actuator=Job(stuck=True)).run_once()
    assert a_loop(store=store).resume() == SMALL
    a_loop(store=store).run_once()
    assert a_loop(store=store).resume() == LARGE


def test_a_forecaster_that_fails_on_the_past_does_not_cost_the_learner_its_state() -> None:
    store, learner = MemoryStore(), Counts()
    a_loop(store=store, policy=Counts()).run_once()
    assert a_loop(store=store, policy=learner, forecaster=Doubles(broken=True)).resume() == SMALL
    assert learner.times == [0]


def test_there_is_nothing_to_take_up_from_an_empty_store() -> None:
    assert a_loop().resume() is None


def test_the_past_of_a_job_with_other_operators_is_left_alone() -> None:
    store = MemoryStore()
    a_loop(store=store, policy=Counts()).run_once()
    learner = Counts()
    renamed = a_loop(store=store, policy=learner, topology=Topology((Operator("cut"),)))
    assert renamed.resume() is None
    assert learner.times == []
    assert not renamed._history


def test_a_learner_that_cannot_take_up_its_state_starts_afresh(caplog: pytest.LogCaptureFixture) -> None:
    store = MemoryStore()
    a_loop(store=store, policy=Counts()).run_once()
    store.record(store.recent(1)[0], "counts", {"of": "an older version"})
    loop = a_loop(store=store, policy=Counts())
    assert loop.resume() == SMALL
    assert "counts cannot take up what was known, it starts afresh: KeyError: 'times'" in caplog.text
    assert code(loop.run_once()) is ReasonCode.STEADY
