"""When to start a failed segment again, and when to give it up."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.spark.realtime.segment_query import SegmentQuery

FAILURES_IN_A_ROW = 5
"""A segment that fails this often without finishing a batch is given up."""

SLOTS_SECONDS = 120.0
"""So long a segment waits for the replacement of a lost executor before it is started all the same, and fails."""


@dataclass
class Repair:
    """Counts failures of one segment. Each one in a row doubles the pause before the next start."""

    query: SegmentQuery
    failures: int = 0
    due: float | None = None
    last_batch: int = -1
    lacking_since: float | None = None

    def waits_for_slots(self, t: float, enough: bool) -> bool:
        """Call it while the query is down: whether it waits until there are enough slots, which is no failure."""
        if enough:
            self.lacking_since = None
            return False
        self.lacking_since = t if self.lacking_since is None else self.lacking_since
        return t - self.lacking_since < SLOTS_SECONDS

    def is_due(self, t: float) -> bool:
        """Call it while the query is down: the first call counts a failure, later ones say if the pause is over. There
        is no pause before a segment is given up."""
        if self.due is None:
            self.failures = 1 if self.query.last_batch > self.last_batch else self.failures + 1
            self.last_batch = max(self.last_batch, self.query.last_batch)
            self.due = t + (0.0 if self.is_given_up else 0.25 * 2**self.failures)
        if t < self.due:
            return False
        self.due = None
        return True

    @property
    def is_given_up(self) -> bool:
        return self.failures >= FAILURES_IN_A_ROW
