"""What a change of a real-time job costs: some segments are restarted."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.model import Plan


@dataclass(frozen=True, slots=True)
class RestartCost:
    """What one change of plan cost.

    t                Unix seconds at which it was requested
    before, after    the plans
    segments         the segments that were restarted, by name; the others ran on
    stop_seconds     the longest time that it took to stop one of them
    start_seconds    the longest time that it took to start one again
    silence_seconds  the longest time that one of them emitted nothing; None if there was nothing to emit
    cut_short        segments whose batch did not end in time: what it had read was read again
    duplicates       records that will come twice at the sinks because of it; None if the broker did not say
    """

    t: float
    before: Plan
    after: Plan
    segments: tuple[str, ...]
    stop_seconds: float
    start_seconds: float
    silence_seconds: float | None
    cut_short: tuple[str, ...]
    duplicates: int | None
