"""When to start a failed segment again, and when to give it up."""

from __future__ import annotations

import re
from dataclasses import dataclass

from penstock.spark.realtime.running_segment import RunningSegment

FAILURES_IN_A_ROW = 5
"""A segment that fails this often without finishing a batch is given up."""

LACKING_PAUSE_SECONDS = 2.0
"""Before the next start of a segment for which there were too few slots."""

SLOTS_SECONDS = 1800.0
"""So long a segment waits for the replacement of a lost executor: a pod may need a new machine, or wait for a quota."""

SAID_AGAIN = 4.0
"""From one line in the log about slots that are lacking to the next it is this many times as long."""

LACKING = re.compile(
    "CONCURRENT_SCHEDULER_INSUFFICIENT_SLOT|ExecutorLostFailure|[Ee]xecutor (?:was )?lost|Lost executor"
)
"""What Spark says when slots were missing: the driver may count an executor for some time after it was lost."""


@dataclass
class Repair:
    """Counts failures of one segment. Each one in a row doubles the pause before the next start.

    That slots are lacking is no failure of the segment. It waits for them, and the wait has an end.
    """

    segment: RunningSegment
    failures: int = 0
    due: float | None = None
    last_batch: int = -1
    lacking_since: float | None = None
    say_at: float = 0.0

    def waits_for_slots(self, t: float, enough: bool) -> bool:
        """Call it while the segment is down: whether it waits until there are enough slots."""
        if self.segment.last_batch > self.last_batch or (enough and not self._lacked):
            self.lacking_since = None
        if self.lacking_since is None and (not enough or self._lacked):
            self.lacking_since = self.say_at = t
        return not enough

    def is_said(self, t: float) -> bool:
        """Whether it is time to say that slots are lacking: at first, and then more and more rarely."""
        if self.lacking_since is None or t < self.say_at:
            return False
        self.say_at = max(t + 15.0, self.lacking_since + SAID_AGAIN * (t - self.lacking_since))
        return True

    def is_due(self, t: float) -> bool:
        """Call it while the segment is down: the first call counts a failure, later ones say if the pause is over.

        There is no pause before a segment is given up.
        """
        if self.due is None:
            if self._lacked:
                self.due = t + LACKING_PAUSE_SECONDS
            else:
                self.failures = 1 if self.segment.last_batch > self.last_batch else self.failures + 1
                self.due = t + (0.0 if self.failures >= FAILURES_IN_A_ROW else 0.25 * 2**self.failures)
            self.last_batch = max(self.last_batch, self.segment.last_batch)
        if t < self.due:
            return False
        self.due = None
        return True

    def lacks_slots_too_long(self, t: float) -> bool:
        return self.lacking_since is not None and t - self.lacking_since >= SLOTS_SECONDS

    def waited_for_slots(self, needed: int, there: int) -> str:
        """Why a segment that lacks slots for too long is given up."""
        name, minutes, why = self.segment.segment.name, SLOTS_SECONDS / 60, self.segment.failure
        waited = f"{name} waited {minutes:.0f} min for slots: the plan needs {needed}, and there are {there}"
        return waited if why is None else f"{waited}; Spark says: {why}"

    @property
    def _lacked(self) -> bool:
        """Whether slots were missing when it failed."""
        return LACKING.search(self.segment.failure or "") is not None

    @property
    def is_given_up(self) -> bool:
        return self.failures >= FAILURES_IN_A_ROW
