"""Hands segments over to queries with another plan while their records flow.

The new query of a segment runs beside the old one, and both agree on a cut some seconds ahead in each partition: the
old one passes the records before it, the new one those from it on. The new plan is in force when the records have come
to the cut. When a batch of the old one has ended beyond it, that one has written all that is its own, and is stopped.
Nobody waits, nothing is lost and nothing comes twice.

A segment that is behind is cut where its topics end now: new records are taken by the new query as soon as it runs,
while the old one works off what waits. Records of one key then pass each other. That may take longer than the new plan
suits the load, so a segment may be handed over again before: then the new query gets a cut as well.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Mapping, Sequence

from pyspark.sql import SparkSession

from penstock.model import PenstockError, Plan
from penstock.spark.realtime.checkpoint import PartitionOffsets
from penstock.spark.realtime.cut import executors, tell
from penstock.spark.realtime.measurements import Division, Measurements
from penstock.spark.realtime.rescale import CancelledError, SegmentFailedError
from penstock.spark.realtime.running_segment import RunningSegment
from penstock.spark.realtime.windows import late_after
from penstock.spark.topics.offsets import Offsets

log = logging.getLogger("penstock")

AHEAD_SECONDS = 2.0
"""A cut is at least so far ahead, in the records that come by then. A query starts within a second or two."""

MOST_AHEAD_SECONDS = 10.0
"""Nor farther than this: where queries take so long to start, some seconds of waiting are the least trouble."""

SLOWER = 3.0
"""Records may come so many times slower than before, until nobody waits any more that they reach the cut."""

TOLD_SECONDS = 0.5
"""The same for a segment that is behind: at least the time that it takes to tell the old query. It may read records as
they come even so, and what it has read waits inside it."""

MOST_QUERIES = 4
"""A segment has at most so many at a time; the next change waits for the oldest one. Each holds slots."""

REHEARSAL = "penstock.cut"

LOOK_SECONDS = 0.05


class HandoverRefusedError(PenstockError):
    """A hand-over cannot be had now. The segments have to be restarted: they may have two queries."""


def cut_ahead(
    ends: PartitionOffsets, rates: Mapping[str, Mapping[str, float]], seconds: float
) -> dict[str, dict[str, int]]:
    """The offsets to which the partitions will have grown after these seconds.

    Where hardly anything comes the next record is beyond the cut: nobody would wait for the one after it.

    >>> cut_ahead({"clicks": {"0": 100, "1": 7}}, {"clicks": {"0": 50.0, "1": 0.1}}, 3.0)
    {'clicks': {'0': 250, '1': 7}}
    """
    return {
        topic: {n: end + math.floor(rates[topic][n] * seconds) for n, end in partitions.items()}
        for topic, partitions in ends.items()
    }


class Handover:
    """Hands segments over, for as long as the job runs: it learns how far ahead a cut has to be."""

    def __init__(
        self,
        spark: SparkSession,
        offsets: Offsets,
        measurements: Measurements,
        *,
        batch_seconds: float,
        free: Callable[[], int],
        cancelled: Callable[[], bool],
    ) -> None:
        """
        batch_seconds  the length of a batch
        free           slots that no query has
        cancelled      whether the job is being stopped
        """
        self._spark = spark
        self._offsets = offsets
        self._measurements = measurements
        self._batch_seconds = batch_seconds
        self._free = free
        self._cancelled = cancelled
        self._ahead_seconds = AHEAD_SECONDS + 1.0  # the first start of a query takes longest
        self._told_seconds = 2 * TOLD_SECONDS  # and the first time that anything is told

    def is_behind(self, segment: RunningSegment) -> bool:
        """Whether more waits for a segment than it works off, or than comes, until a cut ahead."""
        ends = self._offsets.ends_by_partition(segment.wiring.reads)
        waiting = self._measurements.waiting(segment)
        if ends is None or waiting is None:
            return False
        came = min(_total(self._measurements.rates(ends)), _total(self._measurements.rates(ends, over=1.0)))
        return waiting > max(1.0, self._ahead_seconds * max(came, self._measurements.taken_per_second(segment)))

    def run(self, segments: Sequence[RunningSegment], plan: Plan) -> float:
        """Hand segments over to queries with this plan; returns the seconds that the longest start of a query took.

        They may be left with two queries: whoever watches them calls `finish` until the old one has ended.
        """
        self._rehearse()
        began = time.monotonic()
        parts = self._measurements.divided(segments, self._division)
        properties = {name: value for part in parts for name, value in part.segment.told.items()}
        there = executors(self._spark)
        if unreached := tell(self._spark, properties, self._free):
            raise HandoverRefusedError(f"the cut cannot be told to {unreached} of the executors: no slot is free there")
        self._told_seconds = max(TOLD_SECONDS, 2 * (time.monotonic() - began))
        for part in parts:
            part.segment.told_to = there
            for query in part.segment.queries[:-1]:
                query.told_in = query.last_batch
            self._count_what_came_before(part.segment, part.cut)
        longest = 0.0
        for part in parts:
            started = time.monotonic()
            part.segment.start_new(plan)
            longest = max(longest, time.monotonic() - started)
        ahead, took = self._ahead_seconds, time.monotonic() - began
        self._ahead_seconds = min(max(AHEAD_SECONDS, 2 * took), MOST_AHEAD_SECONDS)
        until = began + SLOWER * ahead + 2 * late_after(self._batch_seconds)
        while parts:
            if self._cancelled():
                raise CancelledError("the job is being stopped")
            for part in parts:
                if not part.segment.running:
                    raise SegmentFailedError(part.segment.failure or f"{part.segment.segment.name} ended")
            for part in parts:
                self.finish(part.segment)
            parts = [part for part in parts if len(part.segment.queries) > 1 and not self._is_in_force(part)]
            if parts and time.monotonic() > until:
                raise HandoverRefusedError("too few records came to reach the cut, or the new query does not work")
            time.sleep(LOOK_SECONDS)
        return longest

    def wait_for_old_queries(self, segment: RunningSegment, most: int = 1) -> bool:
        """Wait until no more than so many queries are left of the hand-overs before, as long as a change waits;
        whether that is so."""
        until = time.monotonic() + 2 * late_after(self._batch_seconds)
        while len(segment.queries) > most and segment.running:
            if self.finish(segment):
                continue
            if self._cancelled():
                raise CancelledError("the job is being stopped")
            if time.monotonic() > until:
                return False
            time.sleep(LOOK_SECONDS)
        return len(segment.queries) <= most

    def _rehearse(self) -> None:
        """Tell everybody something that means nothing: whether all can be told is known before anything is written
        down, and so is the time that it takes, which is longest the first time."""
        began = time.monotonic()
        if unreached := tell(self._spark, {REHEARSAL: "true"}, self._free):
            raise HandoverRefusedError(f"the cut cannot be told to {unreached} of the executors: no slot is free there")
        took = time.monotonic() - began
        self._told_seconds = max(self._told_seconds, 2 * took)
        self._ahead_seconds = min(max(self._ahead_seconds, AHEAD_SECONDS + 2 * took), MOST_AHEAD_SECONDS)

    def finish(self, segment: RunningSegment) -> bool:
        """End the oldest query of a segment if it has written all that is its own; whether it has."""
        if not segment.is_handed_over:
            self._tell_newcomers(segment)
            return False
        self._measurements.handed_over(segment)
        return True

    def _division(self, segment: RunningSegment) -> Division:
        behind = self.is_behind(segment)  # asked first: the cut is chosen with the newest offsets
        ends = self._offsets.ends_by_partition(segment.wiring.reads)
        if ends is None:
            raise HandoverRefusedError("Kafka does not answer")
        if behind:
            rates, seconds = self._measurements.rates(ends, over=1.0), self._told_seconds
        else:
            rates, seconds = self._measurements.rates(ends), self._ahead_seconds
        return Division(segment, ends, cut_ahead(ends, rates, seconds))

    def _count_what_came_before(self, segment: RunningSegment, cut: PartitionOffsets) -> None:
        """An old query that has read beyond its cut before it knew it has passed what it read."""
        ends = self._offsets.ends_by_partition(segment.wiring.reads)
        late = 0 if ends is None else _beyond(ends, cut)
        if late:
            log.warning("%s was handed over too late: up to %d records come twice", segment.segment.name, late)
            self._measurements.passed_beyond(segment, late)

    def _is_in_force(self, part: Division) -> bool:
        """Whether the new query works, and records have come that are its own."""
        ends = self._offsets.ends_by_partition(part.segment.wiring.reads)
        return ends is not None and _beyond(part.cut, ends) == 0 and part.segment.queries[-1].works

    def _tell_newcomers(self, segment: RunningSegment) -> None:
        """An executor that has just come knows nothing, and passes everything if a batch has put a reader there."""
        there, old = executors(self._spark), segment.queries[:-1]
        if there - segment.told_to:
            tell(self._spark, segment.told, self._free)
            segment.told_to = there
            for query in old:
                if query.last_batch != query.told_in and query.until is not None:
                    self._count_what_came_before(segment, query.until)
        for query in old:
            query.told_in = query.last_batch


def _total(rates: Mapping[str, Mapping[str, float]]) -> float:
    return sum(sum(partitions.values()) for partitions in rates.values())


def _beyond(offsets: PartitionOffsets, others: PartitionOffsets) -> int:
    """How many records the offsets are ahead of the others, in the partitions in which they are.

    >>> _beyond({"clicks": {"0": 12, "1": 3}}, {"clicks": {"0": 10, "1": 9}})
    2
    """
    return sum(
        max(0, offset - others[topic][partition])
        for topic, partitions in offsets.items()
        for partition, offset in partitions.items()
        if partition in others.get(topic, {})
    )
