"""A decision says what it was made for; a window that shows more is answered without waiting for the next interval."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from typing import ClassVar

import pytest

from loop_fakes import SMALL, Wants, a_loop, sample
from penstock.control.controller import Controller
from penstock.control.loop import Settings
from penstock.demo.clicks import CLICKS
from penstock.load.trace import Trace
from penstock.model import Cycle, Decision, HoldsUpTo, InvalidValueError, Mode, Observation, ReasonCode, Sample
from penstock.policies import Policy
from penstock.runs.simulation import Simulation

UP_TO_200 = Decision.hold(
    SMALL, ReasonCode.STEADY, "made for 200 records/s", holds_up_to=HoldsUpTo(input_rate=200.0, waiting=50.0)
)


def waiting(t: float, backlog: float) -> Sample:
    return replace(sample(t), backlog=backlog)


@pytest.mark.parametrize(
    ("window", "overtaken"),
    [
        (sample(10, rate=200), False),
        (sample(10, rate=201), True),
        (sample(10, rate=900, warm_up=True), False),
        (waiting(10, backlog=50), False),
        (waiting(10, backlog=51), True),
        (replace(sample(10), input_rate=None), False),
    ],
)
def test_more_input_or_more_waiting_than_it_was_made_for_overtakes_a_decision(window: Sample, overtaken: bool) -> None:
    loop = a_loop(readings=[[sample(0)], [window]], policy=Wants(UP_TO_200))
    loop.run_once()
    assert loop.overtaken() is overtaken


def test_what_was_seen_between_two_decisions_belongs_to_the_next_one() -> None:
    loop = a_loop(readings=[[sample(0)], [sample(10)], [sample(20, rate=500)], []], policy=Wants(UP_TO_200))
    loop.run_once()
    assert [loop.overtaken(), loop.overtaken()] == [False, True]
    assert loop.run_once().samples == (sample(10), sample(20, rate=500))
    assert not loop.overtaken()  # that burst has been answered


def test_a_decision_that_says_nothing_is_never_overtaken_and_nobody_looks() -> None:
    loop = a_loop(readings=[[sample(0)], [sample(10, rate=1e6)]], policy=Wants(SMALL))
    loop.run_once()
    assert not loop.may_be_overtaken
    assert not loop.overtaken()
    assert loop.run_once().samples == (sample(10, rate=1e6),)


def test_neither_a_monitor_that_fails_nor_a_loop_that_is_off_wakes_anybody() -> None:
    loop = a_loop(readings=[[sample(0)], OSError("no"), [sample(10, rate=500)]], policy=Wants(UP_TO_200))
    loop.run_once()
    assert not loop.overtaken()
    loop.mode = Mode.OFF
    assert not loop.overtaken()
    loop.mode = Mode.ACTIVE
    assert loop.overtaken()


def test_what_a_decision_holds_up_to_is_a_number() -> None:
    with pytest.raises(InvalidValueError, match="holds_up_to: input_rate"):
        HoldsUpTo(input_rate=float("nan"), waiting=0.0)


def test_the_controller_answers_a_burst_before_the_interval_is_over() -> None:
    loop = a_loop(
        readings=[[sample(0)], [], [sample(10)], [sample(20, rate=500)]],
        policy=Wants(UP_TO_200), settings=Settings(interval_seconds=3_600),
    )  # fmt: skip
    cycles: list[Cycle] = []
    enough = threading.Event()

    def listen(cycle: Cycle) -> None:
        cycles.append(cycle)
        if len(cycles) == 2:
            enough.set()

    controller = Controller(loop, listen)
    controller.look_seconds = 0.001
    controller.start()
    assert enough.wait(30.0), "it waits for the hour"
    controller.stop()
    assert cycles[1].samples == (sample(10), sample(20, rate=500))


@dataclass
class UpTo(Policy):
    """Holds the plan, up to a rate."""

    name: ClassVar[str] = "up_to"
    measurements: ClassVar[int] = 6
    rate: float | None = None

    def decide(self, observation: Observation) -> Decision:
        holds = None if self.rate is None else HoldsUpTo(self.rate, 1e9)
        return replace(Decision.move(observation.plan, observation.plan, ""), holds_up_to=holds)


def test_in_the_simulator_a_burst_is_answered_by_the_next_window() -> None:
    burst = Trace("burst", (0.0, 90.0, 90.0, 300.0), (5_000.0, 5_000.0, 8_000.0, 8_000.0))

    def times(policy: Policy) -> list[float]:
        cycles: list[Cycle] = []
        Simulation(replace(CLICKS, trace=burst), policy=policy).run(cycles.append)
        return [cycle.t for cycle in cycles]

    assert times(UpTo(None)) == [60, 120, 180, 240, 300]
    assert times(UpTo(6_000.0))[:3] == [60, 100, 110]  # each window is more than it was made for
    assert times(UpTo(9_000.0)) == [60, 120, 180, 240, 300]


def test_a_policy_that_decides_early_is_asked_with_the_first_window_that_shows_input() -> None:
    class Early(UpTo):
        decides_early: ClassVar[bool] = True

    cycles: list[Cycle] = []
    trace = Trace("late", (0.0, 15.0, 15.0, 60.0), (0.0, 0.0, 500.0, 500.0))
    Simulation(replace(CLICKS, trace=trace), policy=Early()).run(cycles.append)
    assert cycles[0].t == 20
