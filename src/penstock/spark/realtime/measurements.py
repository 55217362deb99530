"""What the segments and the topics of a real-time job show, kept together: ledgers, growth, duplicates, windows.

Batches of a segment are read by more than one thread, and its queries change meanwhile: whatever touches both, a ledger
and the queries of its segment, is done here, under one lock.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from penstock.model import InvalidValueError, Plan, Sample
from penstock.spark.realtime.checkpoint import PartitionOffsets, records_by_topic
from penstock.spark.realtime.duplicates import Duplicates
from penstock.spark.realtime.ledger import Ledger
from penstock.spark.realtime.running_segment import RunningSegment
from penstock.spark.realtime.windows import Windows, late_after
from penstock.spark.topics.growth import Growth
from penstock.spark.topics.offsets import Offsets

RATE_SECONDS = 5.0
"""The rate of a partition is that of the last seconds, as many as these."""


@dataclass(frozen=True, slots=True)
class Division:
    """A segment that is to be handed over.

    starts  where the new query begins to read
    cut     where the records of the new query begin
    """

    segment: RunningSegment
    starts: PartitionOffsets
    cut: PartitionOffsets


class Measurements:
    """Of one job, from its start on."""

    def __init__(
        self,
        segments: Sequence[RunningSegment],
        offsets: Offsets,
        batch_seconds: float,
        now: Callable[[], float],
    ) -> None:
        self._segments = segments
        self._offsets = offsets
        self._batch_seconds = batch_seconds
        self._now = now
        wirings = [segment.wiring for segment in segments]
        self._topics = tuple(dict.fromkeys(t for w in wirings for t in (*w.reads, *w.writes)))
        self._growth = Growth()
        self._partitions = Growth()  # of each partition: `_key` names it
        self._ledgers: dict[str, Ledger] = {}
        self._reading = threading.Lock()

    def open(self) -> None:
        """Begin at what the topics and the checkpoints say now."""
        lengths, begins = self.read_ends(), self._offsets.begins(self._topics)
        if lengths is None or begins is None:
            source = self._segments[0].wiring.source
            raise InvalidValueError("source", f"cannot be read: Kafka at {source.servers} does not answer")
        now = self._now()
        for segment in self._segments:
            read = segment.resumes_at()
            if read is None:
                read = {topic: begins[topic] for topic in segment.wiring.reads}
            self._ledgers[segment.segment.name] = Ledger(segment.wiring, read, now)
            segment.readers = self._offsets.count(segment.wiring.reads)
            segment.look_inside()
        ledgers = list(self._ledgers.values())
        self._duplicates = Duplicates(ledgers, lengths)
        self._windows = Windows(ledgers, self._growth, self._batch_seconds, now)

    # What the topics show --------------------------------------------------------------------------------------

    def read_ends(self) -> dict[str, int] | None:
        """Read the lengths of all topics; None if the broker does not answer."""
        t, ends = self._now(), self._offsets.ends_by_partition(self._topics)
        if ends is None:
            return None
        self._partitions.add(t, {_key(topic, n): end for topic, each in ends.items() for n, end in each.items()})
        lengths = {topic: sum(each.values()) for topic, each in ends.items()}
        self._growth.add(t, lengths)
        for segment in self._segments:
            newest = segment.queries[-1]
            came = [self._growth.between(topic, newest.started_at, t) for topic in segment.wiring.reads]
            if None not in came:
                newest.guess(sum(filter(None, came)))
        return lengths

    def rates(self, ends: PartitionOffsets, over: float = RATE_SECONDS) -> dict[str, dict[str, float]]:
        """Records per second that came to each partition in the last seconds, as many as `over`."""
        now = self._now()

        def rate(topic: str, partition: str, end: int) -> float:
            for seconds in (over, 1.0):  # a job that has just started remembers less
                before = self._partitions.at(_key(topic, partition), now - seconds)
                if before is not None:
                    return max(0.0, end - before) / seconds
            return 0.0

        return {topic: {n: rate(topic, n, end) for n, end in each.items()} for topic, each in ends.items()}

    def waiting(self, segment: RunningSegment) -> float | None:
        """Records that wait for a segment; None if that is not known."""
        return self._ledger(segment).waiting(self._now(), self._growth)

    def taken_per_second(self, segment: RunningSegment) -> float:
        """Records per second that a segment has worked off in the last seconds, as its output shows."""
        now = self._now()
        return self._ledger(segment).taken(now - RATE_SECONDS, now, self._growth) / RATE_SECONDS

    # What the queries show -------------------------------------------------------------------------------------

    def read_batches(self) -> None:
        """Add the batches that have ended to the ledgers."""
        with self._reading:
            for segment in self._segments:
                self._add(segment)

    def divided(
        self, segments: Sequence[RunningSegment], choose: Callable[[RunningSegment], Division]
    ) -> list[Division]:
        """New queries are to take the records of segments from a cut on. It is chosen when nobody is waited for any
        more, so that it is still ahead when the old queries are told."""
        with self._reading:
            for segment in segments:
                self._add(segment)
            divisions = [choose(segment) for segment in segments]
            for division in divisions:
                division.segment.prepare_handover(division.starts, division.cut)
                self._ledger(division.segment).divided(records_by_topic([division.cut]))
        return divisions

    def handed_over(self, segment: RunningSegment) -> None:
        """End the old query of a segment, which has written all that is its own."""
        with self._reading:
            self._add(segment)
            old, ledger = segment.finish(), self._ledger(segment)
            ledger.add(old.new_batches(), 0)
            ledger.handed_over(self._now())
        self.settle()

    def passed_beyond(self, segment: RunningSegment, records: int) -> None:
        """As many records came before an old query knew its cut: the new one takes them as well."""
        self._duplicates.add(self._ledger(segment), records)

    def stopped(self, segment: RunningSegment) -> Mapping[str, int] | None:
        """Add what a stopped segment has finished, count what it wrote beyond; returns the lengths of the topics."""
        ledger, lengths, at = self._ledger(segment), self.read_ends(), self._now()
        with self._reading:
            self._add(segment)
            resumes_at = segment.resumes_at()
            consumed = ledger.began_at if resumes_at is None else resumes_at
            # A task of the run before may have written until this one began.
            since = max(ledger.unfinished_since(consumed), segment.queries[0].started_at)
            segment.rewind()
            ledger.stopped(consumed, at, self._growth)
        written = self._offsets.written_since(ledger.wiring.writes, since)
        if lengths is not None:
            self._duplicates.count(ledger, lengths, written or {})
        return lengths

    def is_late(self, segment: RunningSegment) -> bool:
        """Whether the running batch should have ended long ago."""
        return -self.seconds_left(segment) > late_after(self._batch_seconds) - self._batch_seconds

    def seconds_left(self, segment: RunningSegment) -> float:
        """The seconds until the running batch should end."""
        batches = self._ledger(segment).batches
        since = max(segment.started_at, batches[-1].end if batches else 0.0)
        return since + self._batch_seconds - self._now()

    def _add(self, segment: RunningSegment) -> None:
        for number, query in enumerate(segment.queries):
            self._ledger(segment).add(query.new_batches(), number)

    def _ledger(self, segment: RunningSegment) -> Ledger:
        return self._ledgers[segment.segment.name]

    # What policies read ----------------------------------------------------------------------------------------

    def samples(self, plan: Plan, executors: int | None) -> list[Sample]:
        """The windows that ended since the last call."""
        return self._windows.read(self._now(), plan, executors)

    def settle(self, seconds: float = 0.0) -> None:
        """Windows that begin before these seconds have passed are warm-up."""
        self._windows.settle_until(self._now() + seconds)

    @property
    def duplicates(self) -> int:
        """Records that come twice at the sinks, once every query has been started again."""
        return self._duplicates.at_sinks

    @property
    def newest_duplicates(self) -> int:
        """Those of them that were written by the batches in which queries were stopped last."""
        return self._duplicates.newest_at_sinks


def _key(topic: str, partition: str) -> str:
    return f"{topic}/{partition}"
