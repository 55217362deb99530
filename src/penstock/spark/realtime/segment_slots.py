"""Counts the slots that the queries of a real-time job hold, now and under another plan."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from penstock.model import Plan
from penstock.spark.realtime.running_segment import RunningSegment


class SegmentSlots:
    """The slots of all segments of a job."""

    def __init__(self, segments: Sequence[RunningSegment]) -> None:
        self._segments = segments

    def of_plan(self, plan: Plan) -> int:
        """Those of every chain of operators, as all run concurrently, and of what Spark shuffles inside them."""
        return sum(segment.slots_needed(plan) for segment in self._segments)

    def of_both(
        self,
        handed_over: Collection[RunningSegment],
        before: Plan,
        plan: Plan,
        changed: Collection[RunningSegment] = (),
    ) -> int:
        """Those of two queries for each segment that is handed over, and of one for each other: those that have changed
        run with the new plan by then."""
        running = sum(segment.slots_needed(plan if segment in changed else before) for segment in self._segments)
        return running + sum(segment.slots_needed(plan) for segment in handed_over)

    def of_old(self) -> int:
        """Those of old queries that the last hand-over has left."""
        return sum(segment.slots_of_old() for segment in self._segments)

    def taken(self) -> int:
        """Those that all queries have now."""
        return sum(segment.slots_taken() for segment in self._segments)
