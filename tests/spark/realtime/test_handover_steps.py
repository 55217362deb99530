"""The steps of a hand-over in their order, and what ends one early. No Spark runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

import pytest

from penstock.model import FrozenMap, Plan
from penstock.spark.realtime import handover as steps
from penstock.spark.realtime.handover import Handover, HandoverRefusedError
from penstock.spark.realtime.rescale import CancelledError, SegmentFailedError

PLAN = Plan({"one": 2})


class Wired:
    reads = ("in",)


class Named:
    name = "one"


class Query:
    """A batch of it ends at every look, from so many looks on."""

    told_in = -1
    until: Mapping[str, Mapping[str, int]] | None = None

    def __init__(self, works: bool = True, ends: int = 1000) -> None:
        self.works, self._looks = works, -ends

    @property
    def last_batch(self) -> int:
        self._looks += 1
        return max(0, self._looks)


class Segment:
    """Its old query has written all that is its own after so many looks."""

    wiring, segment, failure = Wired(), Named(), "it is bad"
    told: Mapping[str, str] = FrozenMap({"cut": "there"})

    def __init__(
        self, log: list[str], looks: int = 3, running: bool = True, works: bool = True, ends: int = 1000
    ) -> None:  # fmt: skip
        self.log, self.looks, self.running = log, looks, running
        self.queries: tuple[Query, ...] = (Query(ends=ends), Query(works))
        self.told_to: set[str] = set()

    def start_new(self, plan: Plan) -> None:
        self.log.append(f"start with {plan['one']}")

    @property
    def is_handed_over(self) -> bool:
        self.looks -= 1
        return self.looks <= 0


class Measured:
    """100 records a second come; so many wait."""

    def __init__(self, log: list[str], waiting: float = 0.0) -> None:
        self.log, self._waiting = log, waiting
        self.came_early = 0

    def rates(self, ends: Any, over: float = 5.0) -> dict[str, dict[str, float]]:
        return {"in": {"0": 100.0}}

    def taken_per_second(self, segment: Any) -> float:
        return 100.0

    def waiting(self, segment: Any) -> float:
        return self._waiting

    def divided(self, segments: Any, choose: Any) -> list[Any]:
        divisions = [choose(segment) for segment in segments]
        for each in divisions:
            each.segment.queries[-2].until = each.cut
        self.log += [f"divide at {each.cut['in']['0'] - each.starts['in']['0']}" for each in divisions]
        return divisions

    def handed_over(self, segment: Any) -> None:
        self.log.append("end the old one")
        segment.queries = segment.queries[1:]

    def passed_beyond(self, segment: Any, records: int) -> None:
        self.came_early += records


class Ends:
    """The end offset of the one partition, at one look after the other; the last one stays."""

    def __init__(self, *ends: int) -> None:
        self._ends = list(ends)

    def ends_by_partition(self, topics: Iterable[str]) -> dict[str, dict[str, int]]:
        return {"in": {"0": self._ends.pop(0) if len(self._ends) > 1 else self._ends[0]}}


@pytest.fixture
def log() -> list[str]:
    return []


@pytest.fixture
def make(log: list[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Handover]:
    def made(
        measured: Measured, ends: Ends, unreached: int = 0, cancelled: bool = False, there: Sequence[str] = ("1",)
    ) -> Handover:  # fmt: skip
        def tell(spark: object, properties: object, free: object) -> int:
            log.append("tell the old one" if "cut" in cast("Any", properties) else "rehearse")
            return unreached

        monkeypatch.setattr(steps, "tell", tell)
        come = list(there)
        monkeypatch.setattr(steps, "executors", lambda spark: set(come.pop(0) if len(come) > 1 else come[0]))
        monkeypatch.setattr(steps, "late_after", lambda seconds: 0.0)
        return Handover(
            cast("Any", None), cast("Any", ends), cast("Any", measured), batch_seconds=1.0, free=lambda: 1,
            cancelled=lambda: cancelled,
        )  # fmt: skip

    return made


def test_the_cut_is_written_down_and_told_before_the_new_query_starts(log: list[str], make: Any) -> None:
    make(Measured(log), Ends(1000)).run([Segment(log)], PLAN)
    assert log == ["rehearse", "divide at 300", "tell the old one", "start with 2", "end the old one"]


def test_nobody_waits_for_the_end_of_a_batch_once_records_have_come_to_the_cut(log: list[str], make: Any) -> None:
    make(Measured(log), Ends(1000, 1000, 1000, 1299, 1300)).run([Segment(log, looks=1000)], PLAN)
    assert log == ["rehearse", "divide at 300", "tell the old one", "start with 2"]


def test_it_is_not_in_force_before_the_new_query_works(log: list[str], make: Any) -> None:
    make(Measured(log), Ends(1000, 1000, 1300)).run([Segment(log, looks=5, works=False)], PLAN)
    assert log[-1] == "end the old one"


def test_a_segment_that_is_behind_is_divided_where_its_topic_ends_and_nobody_waits(log: list[str], make: Any) -> None:
    make(Measured(log, waiting=5000), Ends(1000, 1000, 1000, 1100)).run([Segment(log, looks=1000)], PLAN)
    assert log == ["rehearse", "divide at 100", "tell the old one", "start with 2"]


def test_with_an_executor_that_cannot_be_told_nothing_is_written_or_started(log: list[str], make: Any) -> None:
    with pytest.raises(HandoverRefusedError, match=r"^the cut cannot be told to 1 of the executors"):
        make(Measured(log), Ends(1000), unreached=1).run([Segment(log)], PLAN)
    assert log == ["rehearse"]


def test_an_executor_that_comes_meanwhile_is_told_once(log: list[str], make: Any) -> None:
    make(Measured(log), Ends(1000), there=["1", "1", "12", "12"]).run([Segment(log, looks=5)], PLAN)
    assert log[2:] == ["tell the old one", "start with 2", "tell the old one", "end the old one"]


@pytest.mark.parametrize(("ends", "twice"), [(1000, 0), (2, 50)])
def test_what_it_passed_by_then_is_counted_if_a_batch_has_put_a_reader_there(
    ends: int, twice: int, log: list[str], make: Any
) -> None:
    measured, offsets = Measured(log), Ends(1000, 1000, 1000, 1350)
    segment = Segment(log, looks=5, works=False, ends=ends)
    make(measured, offsets, there=["1", "1", "12", "12"]).run([segment], PLAN)
    assert measured.came_early == twice


def test_what_came_before_the_old_query_knew_is_counted(log: list[str], make: Any) -> None:
    measured = Measured(log)
    make(measured, Ends(1000, 1000, 1430)).run([Segment(log)], PLAN)
    assert measured.came_early == 130


def test_a_segment_may_be_handed_over_again_before_the_old_query_has_ended(log: list[str], make: Any) -> None:
    """The first of three has a batch that is never over; the change is over all the same."""
    segment = Segment(log, looks=1000)
    segment.queries = (Query(), *segment.queries)
    make(Measured(log), Ends(1000, 1000, 1000, 1299, 1300)).run([segment], PLAN)
    assert log == ["rehearse", "divide at 300", "tell the old one", "start with 2"]


def test_nor_is_it_over_when_an_older_query_ends_meanwhile(log: list[str], make: Any) -> None:
    """Two of three end at the first two looks. The newest one does not work before they have."""
    segment = Segment(log, looks=1, works=False)
    segment.queries = (Query(), *segment.queries)
    make(Measured(log), Ends(1000)).run([segment], PLAN)
    assert log[-2:] == ["end the old one"] * 2


def test_a_change_waits_for_the_oldest_query_where_there_are_too_many(log: list[str], make: Any) -> None:
    segment = Segment(log, looks=1)
    segment.queries = (Query(), *segment.queries)
    handover = make(Measured(log), Ends(1000))
    assert handover.wait_for_old_queries(segment, 3)
    assert log == []
    assert handover.wait_for_old_queries(segment, 2)
    assert log == ["end the old one"]


def test_but_not_for_ever(log: list[str], make: Any) -> None:
    assert not make(Measured(log), Ends(1000)).wait_for_old_queries(Segment(log, looks=10_000))


def test_a_query_that_fails_ends_the_hand_over(log: list[str], make: Any) -> None:
    with pytest.raises(SegmentFailedError, match="it is bad"):
        make(Measured(log), Ends(1000)).run([Segment(log, running=False)], PLAN)
    assert "end the old one" not in log


def test_a_stop_ends_it_too(log: list[str], make: Any) -> None:
    with pytest.raises(CancelledError):
        make(Measured(log), Ends(1000), cancelled=True).run([Segment(log)], PLAN)
    assert "end the old one" not in log


def test_a_cut_that_is_never_reached_ends_it_after_a_while(
    log: list[str], make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "AHEAD_SECONDS", 0.01)
    with pytest.raises(HandoverRefusedError, match="too few records came to reach the cut"):
        make(Measured(log), Ends(1000)).run([Segment(log, looks=10_000)], PLAN)
    assert "end the old one" not in log
