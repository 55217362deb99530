"""The controller beside a live job: whatever happens to it, the job keeps its plan, and somebody is told once."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

import pytest

from loop_fakes import LARGE, SMALL, a_loop, code, sample
from penstock.control import controller as controller_module
from penstock.control.controller import Controller
from penstock.control.loop import Loop, Settings
from penstock.model import Cycle, ReasonCode, Sample

LIMIT_SECONDS = 30.0
FAST = Settings(interval_seconds=0.01)


def wait(event: threading.Event) -> None:
    assert event.wait(LIMIT_SECONDS), "it hangs"


def after(cycles: int) -> tuple[Callable[[Cycle], None], threading.Event]:
    """A listener, and the event that it has heard so many cycles."""
    heard, enough = [0], threading.Event()

    def listen(cycle: Cycle) -> None:
        heard[0] += 1
        if heard[0] >= cycles:
            enough.set()

    return listen, enough


def test_it_decides_again_and_again_until_it_is_stopped() -> None:
    listener, enough = after(cycles=5)
    loop, cycles = a_loop(settings=FAST), list[Cycle]()
    controller = Controller(loop, listener)
    controller.observers.append(cycles.append)
    controller.start()
    wait(enough)
    controller.stop()
    assert not controller.alive
    assert loop.actuator.plan() == LARGE
    changes = [cycle for cycle in cycles if cycle.change_seconds is not None]
    assert len(changes) == 1
    assert len(controller.decision_ms) == len(cycles) - 1, "what a change takes is not what a decision takes"


def test_every_change_is_a_line_in_the_log_under_the_name_of_the_job(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "penstock")
    listener, enough = after(cycles=3)
    controller = Controller(a_loop(settings=FAST), listener, name="clicks")
    controller.start()
    wait(enough)
    controller.stop()
    [change] = [record.message for record in caplog.records if " -> " in record.message]
    assert change.startswith(f"clicks: {SMALL} -> {LARGE}, because ")


class Warming:
    """A monitor whose first looks show nothing, then a job that warms up, then the first window that counts."""

    def __init__(self) -> None:
        self.readings = [[], [sample(0, warm_up=True)], [], [sample(10)]]
        self.looks = 0

    def read(self) -> list[Sample]:
        self.looks += 1
        return self.readings.pop(0) if self.readings else []


def test_the_first_decision_comes_with_the_first_window_that_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(controller_module, "LOOK_SECONDS", 0.001)
    monitor, decided = Warming(), threading.Event()
    cycles: list[Cycle] = []

    def listen(cycle: Cycle) -> None:
        cycles.append(cycle)
        decided.set()

    controller = Controller(a_loop(monitor=monitor, settings=Settings(interval_seconds=3_600)), listen)
    controller.start()
    wait(decided)  # nobody waits for the hour
    controller.stop()
    assert [code(cycle) for cycle in cycles] == [ReasonCode.SCALE_UP]
    assert cycles[0].samples == (sample(0, warm_up=True), sample(10))  # what was seen meanwhile is recorded
    assert monitor.looks == 5  # four before the cycle, and its own: none while it waits for the next one


def test_a_job_that_shows_nothing_is_said_to_after_each_interval() -> None:
    listener, enough = after(cycles=3)
    cycles: list[Cycle] = []

    def listen(cycle: Cycle) -> None:
        cycles.append(cycle)
        listener(cycle)

    controller = Controller(a_loop(readings=[], settings=FAST), listen)
    controller.start()
    wait(enough)
    controller.stop()
    assert {code(cycle) for cycle in cycles} == {ReasonCode.MISSING_METRICS}


class Breaks:
    """A loop that fails in its first cycles, then recovers, then fails again."""

    def __init__(self, failures: int) -> None:
        self.settings = FAST
        self.failures = failures
        self.calls = 0
        self.called = threading.Event()

    may_be_overtaken = False

    def has_news(self) -> bool:
        return True

    def run_once(self) -> Cycle:
        self.calls += 1
        if self.calls > self.failures:
            self.called.set()
        raise OSError("no more file handles")


def test_a_loop_that_fails_is_reported_once_and_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    loop = Breaks(failures=4)
    controller = Controller(loop)  # type: ignore[arg-type]
    controller.start()
    wait(loop.called)
    controller.stop()
    said = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert said == ["the controller fails (OSError: no more file handles); the job runs on with its last plan"]


class Hangs:
    def __init__(self) -> None:
        self.settings = FAST
        self.free = threading.Event()

    may_be_overtaken = False

    def has_news(self) -> bool:
        return True

    def run_once(self) -> Cycle:
        self.free.wait(LIMIT_SECONDS)
        raise OSError("too late")


def test_a_loop_that_hangs_is_reported_once(caplog: pytest.LogCaptureFixture) -> None:
    loop, told = Hangs(), threading.Event()
    controller = Controller(loop)  # type: ignore[arg-type]
    controller.hangs_after_seconds = 0.02

    class Ear(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            told.set()

    ear = Ear()
    logging.getLogger("penstock").addHandler(ear)
    controller.start()
    wait(told)
    loop.free.set()
    controller.stop()
    logging.getLogger("penstock").removeHandler(ear)
    (said,) = [record.getMessage() for record in caplog.records]
    assert said == "the controller has not come back for 0 s; the job runs on with its last plan"


def test_a_policy_that_ends_the_process_ends_the_controller_only(caplog: pytest.LogCaptureFixture) -> None:
    loop = a_loop(settings=FAST)
    ended = threading.Event()

    def leave(cycle: Cycle) -> None:
        ended.set()
        raise SystemExit(3)

    controller = Controller(loop, leave)
    controller.start()
    wait(ended)
    controller.stop()
    assert not controller.alive
    assert "the controller has ended (SystemExit: 3); the job runs on" in caplog.text
    assert loop.actuator.plan() in (SMALL, LARGE)


def test_a_loop_is_what_it_steers() -> None:
    loop: Loop = a_loop(settings=FAST)
    assert Controller(loop).interval_seconds == 0.01


def test_an_observer_that_fails_harms_neither_the_job_nor_the_others() -> None:
    listener, enough = after(cycles=3)
    seen: list[Cycle] = []

    def fail(cycle: Cycle) -> None:
        raise ZeroDivisionError("a broken chart")

    controller = Controller(a_loop(settings=FAST), listener)
    controller.observers += [fail, seen.append]
    controller.start()
    wait(enough)
    assert controller.healthy
    controller.stop()
    assert not controller.healthy
    assert len(seen) >= 3
    assert controller.failures == 0


def test_cycles_that_fail_are_counted_and_it_is_not_well_meanwhile() -> None:
    failed, free = threading.Event(), threading.Event()

    def run() -> Cycle:
        if controller.failures >= 2:
            failed.set()
            free.wait(LIMIT_SECONDS)
        raise ZeroDivisionError("no rate")

    controller = Controller(a_loop(settings=FAST), run=run)
    controller.start()
    wait(failed)
    assert controller.alive
    assert not controller.healthy
    free.set()
    controller.stop()
    assert controller.failures >= 2
