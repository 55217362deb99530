"""What one finished batch of a segment showed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from penstock.model import Latency


@dataclass(frozen=True, slots=True)
class OperatorBatch:
    """One operator over one batch.

    records_out         records that left it
    seconds_per_record  seconds spent inside its function; None: not measured
    cpu_seconds         CPU seconds of its stage, or its share of them where others are in it too; None: not known, or
                        not all of its useful time
    """

    records_out: int
    seconds_per_record: float | None
    cpu_seconds: float | None


@dataclass(frozen=True, slots=True)
class SegmentBatch:
    """A segment over one batch.

    number             as Spark counts them
    warm_up            whether it is the first of a run, in which Spark compiles what it has not seen
    start, end         Unix seconds
    records_in         records read from the topics
    began_at           records of each topic read before it, since the topic began; None: this is the first batch ever
    consumed           records of each topic read by its end, since the topic began
    operators          what was measured of each operator, in their order
    processing, event  latency at the operator where it is measured, if that is in this segment
    shared             whether another query of the segment ran at the same time, so that it shows a part only
    """

    number: int
    warm_up: bool
    start: float
    end: float
    records_in: int
    began_at: Mapping[str, int] | None
    consumed: Mapping[str, int]
    operators: Mapping[str, OperatorBatch]
    processing: Latency | None
    event: Latency | None
    shared: bool = False
