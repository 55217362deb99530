"""Restarts segments with another plan: each right after one of its batches, while its neighbours run on."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql.streaming.readwriter import DataStreamWriter

from penstock.model import PenstockError, Plan
from penstock.spark.realtime.running_segment import RunningSegment
from penstock.spark.topics.offsets import Offsets

FIRST_OUTPUT_SECONDS = 3.0
"""How long to wait for the first output of a restarted segment, which may have nothing to do."""


class SegmentFailedError(PenstockError):
    """A segment did not start."""


class CancelledError(PenstockError):
    """The job is being stopped: a change that is being made is given up as it is."""


@dataclass
class Restart:
    """A segment that was restarted, and what that cost so far. `silence_seconds` is None until it emits again; the
    times are those of a clock that nobody sets."""

    segment: RunningSegment
    cut_short: bool
    stopped_at: float = 0.0
    started_at: float = 0.0
    stop_seconds: float = 0.0
    start_seconds: float = 0.0
    silence_seconds: float | None = None
    length: int | None = None  # of its first output when it was stopped


class Rescale:
    """One change under way."""

    def __init__(
        self,
        plan: Plan,
        offsets: Offsets,
        *,
        is_late: Callable[[RunningSegment], bool],
        fits: Callable[[Sequence[RunningSegment]], bool],
        stopped: Callable[[RunningSegment], Mapping[str, int] | None],
        cancelled: Callable[[], bool],
    ) -> None:
        """
        is_late    whether the batch of a segment should have ended long ago
        fits       whether there are slots when these segments run with the new plan and the rest with the old one
        stopped    called after each stop; returns the lengths of the topics then, None if the broker does not answer
        cancelled  whether the job is being stopped
        """
        self._plan = plan
        self._offsets = offsets
        self._is_late = is_late
        self._fits = fits
        self._stopped = stopped
        self._cancelled = cancelled
        self.restarts: list[Restart] = []

    def run(self, segments: Sequence[RunningSegment]) -> None:
        """Restart them all, and wait until each emits something again.

        Each is restarted as soon as its batch has ended, or is late. If there are slots for none of them then, as some
        were lost, all that are left are stopped first and then started: none waits for slots that another one has.
        """
        prepared = {segment: segment.prepare(self._plan) for segment in segments}
        waiting = {segment: segment.last_batch for segment in segments}
        while waiting or any(self._waits_for_output(restart) for restart in self.restarts):
            if self._cancelled():
                raise CancelledError("the job is being stopped")
            ready = [
                segment
                for segment, batch in waiting.items()
                if self._has_ended(segment, batch) or self._is_late(segment)
            ]
            fitting = [segment for segment in ready if self._fits([*self._changed, segment])]
            for segment in fitting[:1] or (ready if len(ready) == len(waiting) else []):
                self._stop(segment, cut_short=not self._has_ended(segment, waiting.pop(segment)))
            for restart in self.restarts:
                if restart.started_at == 0.0:
                    self._start(restart, prepared[restart.segment])
            self._look_for_output()
            time.sleep(0.01)

    @property
    def _changed(self) -> list[RunningSegment]:
        return [restart.segment for restart in self.restarts]

    def _has_ended(self, segment: RunningSegment, batch: int) -> bool:
        return segment.last_batch > batch or not segment.running

    def _stop(self, segment: RunningSegment, cut_short: bool) -> None:
        restart = Restart(segment, cut_short, stopped_at=time.monotonic())
        self.restarts.append(restart)
        segment.stop()
        restart.stop_seconds = time.monotonic() - restart.stopped_at
        lengths = self._stopped(segment)
        restart.length = None if lengths is None else lengths[segment.wiring.writes[0]]

    def _start(self, restart: Restart, prepared: DataStreamWriter | None) -> None:
        began = time.monotonic()
        restart.segment.start(self._plan, prepared)
        restart.started_at = time.monotonic()
        restart.start_seconds = restart.started_at - began

    def _look_for_output(self) -> None:
        waiting = [restart for restart in self.restarts if self._waits_for_output(restart)]
        lengths = self._offsets.ends([restart.segment.wiring.writes[0] for restart in waiting]) if waiting else None
        for restart in waiting:
            if not restart.segment.running:
                raise SegmentFailedError(restart.segment.failure or f"{restart.segment.segment.name} ended")
            if lengths and restart.length is not None and lengths[restart.segment.wiring.writes[0]] > restart.length:
                restart.silence_seconds = time.monotonic() - restart.stopped_at

    def _waits_for_output(self, restart: Restart) -> bool:
        return restart.silence_seconds is None and time.monotonic() < restart.started_at + FIRST_OUTPUT_SECONDS
