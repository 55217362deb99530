"""What a change of a real-time job costs: some segments are handed over to another query, or restarted."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from statistics import median

from penstock.model import Plan
from penstock.spark.realtime.rescale import Restart


@dataclass(frozen=True, slots=True)
class ChangeCost:
    """What one change of plan cost.

    t                Unix seconds at which it was requested
    before, after    the plans
    handed_over      segments, by name, that a new query took over while the old one ran on
    restarted        segments whose query was stopped and started again
    why              why segments were restarted and not handed over; None where none was, or nobody asked for it
    seconds          from the request until the new plan was in force everywhere
    stop_seconds     the longest time that it took to stop a query for a restart
    start_seconds    the longest time that it took to start one
    silence_seconds  the longest time that a restarted segment emitted nothing; None if there was nothing to emit
    cut_short        segments whose batch did not end in time: what it had read was read again
    duplicates       records that come twice at the sinks because of it
    """

    t: float
    before: Plan
    after: Plan
    handed_over: tuple[str, ...]
    restarted: tuple[str, ...]
    why: str | None
    seconds: float
    stop_seconds: float
    start_seconds: float
    silence_seconds: float | None
    cut_short: tuple[str, ...]
    duplicates: int

    @property
    def segments(self) -> tuple[str, ...]:
        """All that were touched; the others ran on."""
        return (*self.handed_over, *self.restarted)


def cost_of(
    before: Plan, after: Plan, handed_over: tuple[str, ...], restarts: Sequence[Restart],
    *, t: float, seconds: float, start_seconds: float, why: str | None, duplicates: int,
) -> ChangeCost:  # fmt: skip
    """The cost of a change that handed over some segments and restarted the others.

    start_seconds  the longest time that it took to start a query which took over
    why            why the others were not handed over
    """
    silences = [restart.silence_seconds for restart in restarts if restart.silence_seconds is not None]
    return ChangeCost(
        t=t, before=before, after=after, handed_over=handed_over,
        restarted=tuple(restart.segment.segment.name for restart in restarts),
        why=why if restarts else None, seconds=seconds,
        stop_seconds=max((restart.stop_seconds for restart in restarts), default=0.0),
        start_seconds=max(start_seconds, *(restart.start_seconds for restart in restarts), 0.0),
        silence_seconds=max(silences, default=None),
        cut_short=tuple(restart.segment.segment.name for restart in restarts if restart.cut_short),
        duplicates=duplicates,
    )  # fmt: skip


def said_of(changes: Collection[ChangeCost]) -> list[str]:
    """What changes cost so far, in sentences."""
    said = []
    handed_over = sum(not change.restarted for change in changes)
    silences = [change.silence_seconds for change in changes if change.silence_seconds is not None]
    if handed_over:
        said.append(f"{handed_over} of {len(changes)} changes were handed over to a second query and stopped nothing")
    if silences:
        typical, longest = median(silences), max(silences)
        said.append(f"a change silenced the output for {typical:.1f} s in the median, {longest:.1f} s at the most")
    said += dict.fromkeys(f"segments were restarted by a change: {c.why}" for c in changes if c.why is not None)
    return said
