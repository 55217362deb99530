"""How much of a batch that was stopped comes again: a segment, its checkpoint and its topic as lists. No Spark runs."""

from __future__ import annotations

from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from penstock.spark.io.kafka_topic import Kafka
from penstock.spark.job_note import Place
from penstock.spark.realtime.measurements import Measurements
from penstock.spark.realtime.segment_batch import OperatorBatch, SegmentBatch
from penstock.spark.realtime.segment_query import Wiring
from penstock.spark.segments import Segment

OUT = Kafka("out", "here:9092")
WIRING = Wiring(
    segment=Segment(("count",), (), (), (OUT,)), place=Place(("count",), ("in",), "count", None),
    source=Kafka("in", "here:9092"), schema=None, internal_sink=None, latency_at="count", metered=("count",),
)  # fmt: skip


class Topics:
    """A source that has everything from the beginning, and a sink with the times at which its records were written."""

    def __init__(self) -> None:
        self.now = 0.0
        self.written: list[float] = []

    def write(self, records: int, at: float) -> None:
        self.now = at
        self.written += [at] * records

    def ends_by_partition(self, topics: Iterable[str]) -> dict[str, dict[str, int]]:
        lengths = {"in": 10_000, "out": len(self.written)}
        return {topic: {"0": lengths[topic]} for topic in topics}

    def begins(self, topics: Iterable[str]) -> dict[str, int]:
        return dict.fromkeys(topics, 0)

    def count(self, topics: Iterable[str]) -> int:
        return 1

    def written_since(self, topics: Iterable[str], at: float) -> dict[str, int]:
        return {"out": sum(time >= at for time in self.written)}


class Running:
    """A segment whose batches are those that were reported, and whose checkpoint says how far it has come."""

    wiring, segment, readers = WIRING, WIRING.segment, 1

    def __init__(self) -> None:
        self.reported: list[SegmentBatch] = []
        self.committed = 0
        self.queries = [SimpleNamespace(new_batches=self._new_batches, started_at=0.0, guess=lambda records: None)]

    def report(self, number: int, start: float, end: float, records: int, consumed: int) -> None:
        self.reported.append(SegmentBatch(
            number, False, start, end, records, {"in": consumed - records}, {"in": consumed},
            {"count": OperatorBatch(records, None, None)}, None, None,
        ))  # fmt: skip

    def _new_batches(self) -> list[SegmentBatch]:
        fresh, self.reported = self.reported, []
        return fresh

    def resumes_at(self) -> dict[str, int]:
        return {"in": self.committed}

    def look_inside(self) -> None: ...

    def rewind(self) -> None: ...


@pytest.fixture
def topics() -> Topics:
    return Topics()


@pytest.fixture
def segment() -> Running:
    return Running()


@pytest.fixture
def measurements(topics: Topics, segment: Running) -> Measurements:
    made = Measurements([cast("Any", segment)], cast("Any", topics), 5.0, lambda: topics.now)
    made.open()
    return made


def counted(measurements: Measurements) -> tuple[int, int]:
    """Records that have come twice, and those that come again if the job, now stopped, is started again."""
    return measurements.duplicates - measurements.newest_duplicates, measurements.newest_duplicates


def test_what_a_stopped_batch_wrote_between_two_looks_at_the_topics_comes_again(
    topics: Topics, segment: Running, measurements: Measurements
) -> None:
    """The batch before ends at 5.0, and the next one has written 400 records when somebody looks at 5.1."""
    topics.write(100, at=4.9)
    measurements.read_ends()
    segment.report(0, 0.0, 5.0, 100, consumed=100)
    segment.committed = 100
    topics.write(400, at=5.05)
    topics.now = 5.1
    measurements.read_batches()
    measurements.read_ends()
    measurements.stopped(cast("Any", segment))
    assert counted(measurements) == (0, 400)


def test_a_batch_that_was_reported_and_not_committed_comes_again_too(
    topics: Topics, segment: Running, measurements: Measurements
) -> None:
    """Spark writes the checkpoint when the batch has ended already."""
    topics.write(100, at=4.9)
    segment.report(0, 0.0, 5.0, 100, consumed=100)
    topics.write(300, at=9.9)
    segment.report(1, 5.0, 10.0, 300, consumed=400)
    segment.committed = 100
    topics.write(7, at=10.1)
    measurements.stopped(cast("Any", segment))
    assert counted(measurements) == (0, 307)


def test_what_a_task_wrote_after_a_stop_is_not_of_the_batch_that_is_stopped_next(
    topics: Topics, segment: Running, measurements: Measurements
) -> None:
    """Five more came when the first stop was counted; the batch that was stopped next had written two itself."""
    topics.write(100, at=4.9)
    segment.report(0, 0.0, 5.0, 100, consumed=100)
    segment.committed = 100
    topics.now = 5.1
    measurements.stopped(cast("Any", segment))
    topics.write(5, at=5.2)
    segment.queries[0].started_at = 5.3
    topics.write(2, at=6.0)
    measurements.stopped(cast("Any", segment))
    assert counted(measurements) == (5, 2)


def test_what_was_stopped_and_read_again_has_come_twice(
    topics: Topics, segment: Running, measurements: Measurements
) -> None:
    topics.write(40, at=2.0)
    measurements.stopped(cast("Any", segment))
    assert counted(measurements) == (0, 40)
    segment.queries[0].started_at = 2.5
    topics.write(60, at=4.0)
    segment.report(0, 2.6, 5.0, 60, consumed=60)
    segment.committed = 60
    measurements.stopped(cast("Any", segment))
    assert counted(measurements) == (40, 0)
