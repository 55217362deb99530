"""A change of several segments ends, however few slots there are, and ends early when the job is stopped."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, cast

from patience import HANG_SECONDS
from penstock.model import Plan
from penstock.spark.realtime.rescale import CancelledError, Rescale

BEFORE, AFTER = Plan({"one": 6, "two": 6}), Plan({"one": 4, "two": 4})


class Wired:
    def __init__(self, name: str) -> None:
        self.writes = (name,)


class Query:
    """A segment whose batches end one after the other, and that emits as soon as it is started."""

    def __init__(self, name: str, log: list[str], endless: bool = False) -> None:
        self.name, self.log, self.endless = name, log, endless
        self.wiring, self.running, self.batch = Wired(name), True, 0

    @property
    def last_batch(self) -> int:
        self.batch += 0 if self.endless else 1
        return self.batch

    def prepare(self, plan: Plan) -> None: ...

    def stop(self) -> None:
        self.log.append(f"stop {self.name}")
        self.running = False

    def start(self, plan: Plan, prepared: object) -> None:
        self.log.append(f"start {self.name} with {plan[self.name]}")
        self.running = True


class Lengths:
    """Every topic is one record longer each time."""

    def __init__(self) -> None:
        self.length = 0

    def ends(self, topics: Sequence[str]) -> dict[str, int]:
        self.length += 1
        return dict.fromkeys(topics, self.length)


def rescale(queries: Sequence[Query], available: int, cancelled: Any = lambda: False) -> Rescale:
    def fits(changed: Sequence[Any]) -> bool:
        return sum((AFTER if query in changed else BEFORE)[query.name] for query in queries) <= available

    return Rescale(
        AFTER, cast("Any", Lengths()), is_late=lambda query: False, fits=fits,
        stopped=lambda query: {query.wiring.writes[0]: 0}, cancelled=cancelled,
    )  # fmt: skip


def run(change: Rescale, queries: Sequence[Query]) -> BaseException | None:
    """Make the change; what ended it, if it was not made. One that would never end fails its test."""
    ended: list[BaseException | None] = []

    def make() -> None:
        try:
            change.run(cast("Any", queries))
        except CancelledError as error:
            ended.append(error)
        else:
            ended.append(None)

    changing = threading.Thread(target=make, daemon=True)
    changing.start()
    changing.join(HANG_SECONDS)
    assert ended, "the change never ended"
    return ended[0]


def test_segments_change_one_after_the_other_while_there_are_slots() -> None:
    log: list[str] = []
    queries = [Query("one", log), Query("two", log)]
    assert run(rescale(queries, available=12), queries) is None
    assert log == ["stop one", "start one with 4", "stop two", "start two with 4"]


def test_with_fewer_slots_than_the_old_plan_has_they_are_stopped_together() -> None:
    """One alone never fits: with it 4 + 6 slots would be needed, and an executor with four of twelve was lost."""
    log: list[str] = []
    queries = [Query("one", log), Query("two", log)]
    assert run(rescale(queries, available=8), queries) is None
    assert log == ["stop one", "stop two", "start one with 4", "start two with 4"]


def test_a_stop_ends_a_change_that_waits() -> None:
    log: list[str] = []
    queries = [Query("one", log, endless=True), Query("two", log)]
    asked: list[None] = []

    def stopped_after_a_while() -> bool:
        asked.append(None)
        return len(asked) > 10

    ended = run(rescale(queries, available=8, cancelled=stopped_after_a_while), queries)
    assert str(ended) == "the job is being stopped"
    assert log == []
