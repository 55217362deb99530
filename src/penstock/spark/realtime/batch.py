"""What one finished batch of a segment showed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from penstock.model import Latency


@dataclass(frozen=True, slots=True)
class Metered:
    """One operator over one batch.

    records_out         records that left it
    seconds_per_record  spent inside its function, where that was measured
    cpu_seconds         of its stage, where it is known
    """

    records_out: int
    seconds_per_record: float | None
    cpu_seconds: float | None


@dataclass(frozen=True, slots=True)
class Batch:
    """A segment over one batch.

    number              as Spark counts them
    warm_up             the first of a run: Spark compiles what it has not seen, and a record may wait seconds for that
    start, end          Unix seconds
    records_in          records read from the topics
    began_at, consumed  records of each topic read before it (None: there was none) and by its end, of all time
    operators           what was measured of each operator, in their order
    processing, event   latency at the end of the way, if that is in this segment
    """

    number: int
    warm_up: bool
    start: float
    end: float
    records_in: int
    began_at: Mapping[str, int] | None
    consumed: Mapping[str, int]
    operators: Mapping[str, Metered]
    processing: Latency | None
    event: Latency | None
