"""A decision rests on windows that no decision has rested on before; between two windows the loop holds."""

from typing import Any

from loop_fakes import LARGE, SMALL, Counts, Job, Ticks, Wants, a_loop, code, sample
from penstock.control.loop import Loop, Settings
from penstock.guards import chain, only
from penstock.model import Mode, ReasonCode, Sample
from penstock.stores.memory import MemoryStore

EVERY_SECOND = Settings(interval_seconds=1, policy_limit_seconds=None, remembered_cycles=1)


class Seconds:
    """A clock that goes on by one second with each cycle."""

    def __init__(self, t: float) -> None:
        self.t = t

    def now(self) -> float:
        self.t += 1
        return self.t


class WindowsOfTenSeconds:
    """A monitor whose windows are ten times as long as the interval."""

    def __init__(self, clock: Seconds) -> None:
        self.clock = clock
        self.shown = 0.0

    def read(self) -> list[Sample]:
        ended = []
        while self.shown + 10 <= self.clock.t:
            ended.append(sample(self.shown))
            self.shown += 10
        return ended


def a_fast_loop(seconds: int = 0, **parts: Any) -> Loop:
    clock = Seconds(seconds)
    return a_loop(monitor=WindowsOfTenSeconds(clock), clock=clock, settings=EVERY_SECOND, **parts)


def test_a_policy_is_asked_once_for_each_window() -> None:
    policy = Wants(SMALL)
    loop = a_fast_loop(policy=policy)
    cycles = [loop.run_once() for _ in range(35)]
    assert [observation.t for observation in policy.seen] == [10, 20, 30]
    held = [cycle for cycle in cycles if cycle.t in range(11, 20)]
    assert {code(cycle) for cycle in held} == {ReasonCode.NO_NEW_WINDOW}
    assert held[0].decision.reason.text == "no window has ended since the last decision"
    assert len(loop.store.recent(100)) == 35  # each is recorded


def test_a_wish_that_was_not_granted_is_not_repeated_before_the_next_window() -> None:
    job = Job(stuck=True)
    loop = a_loop(readings=[[sample(0)], [], [sample(10)]], actuator=job)
    cycles = [loop.run_once() for _ in range(3)]
    assert [cycle.problem is not None for cycle in cycles] == [True, False, True]


def test_patience_ends_although_most_cycles_rest_on_no_window() -> None:
    """Guards look back over decisions; the cycles in between must not push them out of the history."""
    guards = chain(only(patience={"seconds": 65.0}))
    loop = a_fast_loop(policy=Wants(SMALL), actuator=Job(in_force=LARGE), guards=guards)
    shrank = next(cycle for cycle in (loop.run_once() for _ in range(200)) if cycle.changed)
    assert shrank.t == 80  # the first decision was made at 10, and the next one after 75 is that of 80


def test_patience_goes_on_after_a_restart_although_most_cycles_rest_on_no_window() -> None:
    store, job = MemoryStore(), Job(in_force=LARGE)
    guards = chain(only(patience={"seconds": 65.0}))
    first = a_fast_loop(policy=Wants(SMALL), actuator=job, guards=guards, store=store)
    for _ in range(45):
        first.run_once()
    second = a_fast_loop(45, policy=Wants(SMALL), actuator=job, guards=guards, store=store)
    second.resume()
    assert all(code(cycle) is not ReasonCode.NO_NEW_WINDOW for cycle in second._history)
    shrank = next(cycle for cycle in (second.run_once() for _ in range(200)) if cycle.changed)
    assert shrank.t == 80


def test_what_an_earlier_process_decided_on_is_no_news() -> None:
    store, policy = MemoryStore(), Wants()
    a_loop(store=store).run_once()
    loop = a_loop(readings=[[], [sample(10)]], store=store, policy=policy, clock=Ticks(10))
    loop.resume()
    assert code(loop.run_once()) is ReasonCode.NO_NEW_WINDOW
    loop.run_once()
    assert [seen.latest.t for seen in policy.seen] == [10]


def test_news_are_windows_that_count_and_looking_at_them_loses_none() -> None:
    learner = Counts()
    loop = a_loop(readings=[[], [sample(0, warm_up=True)], OSError("gone"), [sample(10)], [sample(20)]], policy=learner)
    assert [loop.has_news() for _ in range(4)] == [False, False, False, True]
    cycle = loop.run_once()
    assert cycle.samples == (sample(0, warm_up=True), sample(10), sample(20))
    assert learner.times == [10, 20]
    assert not loop.has_news()
    assert loop.run_once().samples == ()


def test_a_loop_that_is_off_has_no_news_and_does_not_read() -> None:
    loop = a_loop(mode=Mode.OFF)
    assert not loop.has_news()
    assert loop.run_once().samples == ()
