"""What progress events tell about finished batches, in our words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class Batch:
    """One finished trigger of a query.

    start    Unix time at which it began and looked what the source has
    seconds  how long it took, planning and committing included
    rows     records that it took
    lag      records that it left in the source when it began; None if a source does not report that
    silent   the sources that do not
    """

    number: int
    start: float
    seconds: float
    rows: float
    lag: float | None
    silent: tuple[str, ...] = ()

    @property
    def end(self) -> float:
        return self.start + self.seconds


def batch_of(progress: Mapping[str, Any]) -> Batch:
    """Read one progress event."""
    lags = {source["description"]: lag_of(source) for source in progress["sources"]}
    silent = tuple(name for name, lag in lags.items() if lag is None)
    return Batch(
        number=progress["batchId"],
        start=datetime.fromisoformat(progress["timestamp"]).timestamp(),
        seconds=progress["durationMs"]["triggerExecution"] / 1e3,
        rows=progress["numInputRows"],
        lag=None if silent else sum(lag for lag in lags.values() if lag is not None),
        silent=silent,
    )


def lag_of(source: Mapping[str, Any]) -> float | None:
    """Records that a source still had after it gave those of the batch.

    Offsets count records in some sources and seconds or files in others: the batch itself tells how many records
    one step of the offset is.

    >>> kafka = {"startOffset": {"in": {"0": 10}}, "endOffset": {"in": {"0": 30}}, "latestOffset": {"in": {"0": 70}}}
    >>> lag_of({**kafka, "numInputRows": 20}), lag_of({**kafka, "latestOffset": None, "numInputRows": 20})
    (40.0, None)
    """
    start, end, latest = (_position(source.get(f"{which}Offset")) for which in ("start", "end", "latest"))
    if end is None or latest is None:
        return None
    behind = max(0.0, latest - end)
    if behind == 0:
        return 0.0
    if start is not None and end > start:
        return behind * float(source["numInputRows"]) / (end - start)
    # A first batch has no start; Kafka at least says that its offsets count records.
    return behind if "avgOffsetsBehindLatest" in (source.get("metrics") or {}) else None


def _position(offset: object) -> float | None:
    """The sum of the offsets of all partitions; None for one that is not made of numbers."""
    if isinstance(offset, Mapping):
        parts = [_position(part) for part in offset.values()]
        known = [part for part in parts if part is not None]
        return sum(known) if parts and len(known) == len(parts) else None
    return float(offset) if isinstance(offset, int | float) and not isinstance(offset, bool) else None
