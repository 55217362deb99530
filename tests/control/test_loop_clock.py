"""Windows that cannot have been measured do not count, and a clock that somebody sets harms nothing."""

from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from loop_fakes import Counts, Job, Wants, a_loop, code, sample
from penstock.control.loop import Loop
from penstock.model import OperatorSample, ReasonCode, Sample
from penstock.stores.memory import MemoryStore

BEGIN = 1.7e9


@dataclass
class Clock:
    """A wall clock that can be set, beside one that cannot."""

    t: float = BEGIN
    passed: float = 0.0

    def now(self) -> float:
        return self.t

    def steady(self) -> float:
        return self.passed


@dataclass
class Honest:
    """A monitor whose window is the last ten seconds by the wall clock."""

    clock: Clock
    next: list[Sample] = field(default_factory=list)

    def read(self) -> list[Sample]:
        return self.next or [sample(self.clock.t - 10)]


def cycle(loop: Loop, clock: Clock, set_by: float = 0.0, *told: Sample) -> ReasonCode:
    clock.t += 10 + set_by
    clock.passed += 10
    loop.monitor.next = list(told)  # type: ignore[attr-defined]
    return code(loop.run_once())


@pytest.fixture
def clock() -> Clock:
    return Clock()


def a_live_loop(clock: Clock, **parts: Any) -> Loop:
    return a_loop(monitor=Honest(clock), clock=clock, **{"policy": Counts(), **parts})


def test_a_window_from_the_future_does_not_count_and_those_after_it_do(
    clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    learner = Counts()
    loop = a_live_loop(clock, policy=learner)
    assert cycle(loop, clock) is ReasonCode.STEADY
    assert cycle(loop, clock, 0.0, sample(BEGIN + 1e9)) is ReasonCode.NO_NEW_WINDOW
    assert "some windows do not count: a window ends 999999990 s after the present" in caplog.text
    assert cycle(loop, clock) is ReasonCode.STEADY
    assert learner.times == [BEGIN, BEGIN + 20]


def test_a_window_with_other_operators_does_not_count(clock: Clock) -> None:
    policy = Wants()
    loop = a_live_loop(clock, policy=policy)
    foreign = replace(sample(BEGIN), operators={"other": OperatorSample(1, 10.0, 10.0, 1.0)})
    assert cycle(loop, clock, 0.0, foreign) is ReasonCode.MISSING_METRICS
    assert policy.seen == []
    assert cycle(loop, clock) is ReasonCode.SCALE_UP


def test_a_window_that_is_told_twice_at_once_counts_once(clock: Clock) -> None:
    learner = Counts()
    cycle(a_live_loop(clock, policy=learner), clock, 0.0, sample(BEGIN), sample(BEGIN))
    assert learner.times == [BEGIN]


@pytest.mark.parametrize("set_by", [-5.0, 5.0, 3_600.0])
def test_a_window_in_which_the_clock_was_set_has_the_wrong_length_and_does_not_count(
    clock: Clock, set_by: float
) -> None:
    learner = Counts()
    loop = a_live_loop(clock, policy=learner)
    cycle(loop, clock)
    longer = replace(sample(clock.t), seconds=10 + set_by)  # what a monitor makes of it
    assert cycle(loop, clock, set_by, longer) in (ReasonCode.NO_NEW_WINDOW, ReasonCode.STALE_METRICS)
    assert cycle(loop, clock) is ReasonCode.STEADY
    assert learner.times == [BEGIN, clock.t - 10]


def test_a_clock_that_runs_a_little_faster_was_not_set(clock: Clock) -> None:
    loop = a_live_loop(clock)
    assert {cycle(loop, clock, 0.3) for _ in range(5)} == {ReasonCode.STEADY}


def test_after_a_clock_set_back_the_loop_starts_afresh_with_the_plan_in_force(
    clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    learner, job = Counts(), Job()
    loop = a_live_loop(clock, policy=learner, actuator=job)
    for _ in range(3):
        cycle(loop, clock)
    cycle(loop, clock, -3_600.0)
    assert "the clock was set back: what was measured before is forgotten" in caplog.text
    assert cycle(loop, clock) is ReasonCode.STEADY
    assert learner.times == [clock.t - 10]  # what it had learnt lay in the future
    assert all(each.t <= clock.t for each in loop._history)


def test_what_a_process_recorded_before_the_clock_was_set_back_is_not_taken_up(clock: Clock) -> None:
    store = MemoryStore()
    first = a_live_loop(clock, store=store, actuator=Job())
    for _ in range(3):
        cycle(first, clock)
    clock.t -= 86_400
    learner = Counts()
    second = a_live_loop(clock, store=store, policy=learner)
    assert second.resume() == first.actuator.plan()  # the plan has no time
    cycle(second, clock)
    assert learner.times == [clock.t - 10]
