"""Reads what Spark reports of the finished batches of a query, for every engine."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

from penstock.model.errors import LARGEST, InvalidValueError, check_measured
from penstock.spark.measure.state_progress import StateProgress, read_state

RECORD = "record"
"""The field of an offset in which a source of ours counts its records."""


@dataclass(frozen=True, slots=True)
class SourceProgress:
    """One source over one batch.

    name                the source in Spark's words
    start, end, latest  its offsets before the batch, after it, and of the newest record when it began; None where the
                        source does not report them
    records             records that the batch took from it
    lag                 records that the batch left in it; None where the source does not report its latest offset
    """

    name: str
    start: Any
    end: Any
    latest: Any
    records: float
    lag: float | None


@dataclass(frozen=True, slots=True)
class BatchProgress:
    """One finished batch of a query.

    number   as Spark counts them
    run      the run of the query
    start    Unix seconds at which it began, and read the latest offsets of its sources
    seconds  seconds that it took, planning and committing included
    sources  what it took from each source
    state    what it keeps in the end; None: nothing
    """

    number: int
    run: str
    start: float
    seconds: float
    sources: tuple[SourceProgress, ...]
    state: StateProgress | None = None

    @property
    def end(self) -> float:
        return self.start + self.seconds

    @property
    def records(self) -> float:
        return sum(source.records for source in self.sources)

    @property
    def lag(self) -> float | None:
        """Records that it left in all its sources; None if one of them does not report that."""
        lags = [source.lag for source in self.sources]
        return None if None in lags else sum(lag for lag in lags if lag is not None)

    @property
    def sources_without_lag(self) -> tuple[str, ...]:
        return tuple(source.name for source in self.sources if source.lag is None)


class ProgressReader:
    """The batches of one run of a query, each of them once. Spark keeps the last hundred, or as many as
    `spark.sql.streaming.numRecentProgressUpdates` says."""

    def __init__(self, query: StreamingQuery, after: int = -1) -> None:
        """Batches up to the number `after` are not read."""
        self._query = query
        self._after = after

    def new(self) -> list[BatchProgress]:
        """The batches that ended since the last call, oldest first."""
        found: list[BatchProgress] = []
        for event in reversed(self._query._jsq.recentProgress()):
            if event.batchId() <= self._after:
                break
            found.append(read_progress(json.loads(event.json())))
        if found:
            self._after = found[0].number
        return found[::-1]


def read_progress(event: Mapping[str, Any]) -> BatchProgress:
    """Reads the JSON of one progress event. One that Spark cannot have written is refused, by the name of its field: a
    batch that was not understood is not one without records."""
    sources = _given(event, "sources", list | tuple)
    return BatchProgress(
        number=_given(event, "batchId", int),
        run=_given(event, "runId", str),
        start=_moment(event),
        seconds=_milliseconds(event) / 1e3,
        sources=tuple(map(_read_source, sources)),
        state=read_state(event.get("stateOperators", ())),
    )


def _given(event: Mapping[str, Any], name: str, kind: Any) -> Any:
    value = event.get(name) if isinstance(event, Mapping) else None
    if not isinstance(value, kind) or isinstance(value, bool):
        raise InvalidValueError(f"{name} of Spark's progress", f"is not as Spark writes it: {value!r}")
    return value


def _figure(event: Mapping[str, Any], name: str) -> float:
    value: float = _given(event, name, int | float)
    check_measured(f"{name} of Spark's progress", value)
    return value


def _milliseconds(event: Mapping[str, Any]) -> float:
    """What a batch took. Before Spark 4.0 that stands among its parts only.

    Spark reads it off the wall clock. If that was set back meanwhile it is negative, and nobody knows what it was; the
    loop does not count a window in which the clock was set.
    """
    if "batchDuration" not in event and "durationMs" in event:
        event, name = _given(event, "durationMs", Mapping), "triggerExecution"
    else:
        name = "batchDuration"
    taken: float = _given(event, name, int | float)
    return _figure(event, name) if taken >= 0 else 0.0


def _moment(event: Mapping[str, Any]) -> float:
    stamp = _given(event, "timestamp", str)
    try:
        return datetime.fromisoformat(stamp).timestamp()
    except (ValueError, OverflowError):
        raise InvalidValueError("timestamp of Spark's progress", f"is not as Spark writes it: {stamp!r}") from None


def _read_source(source: Mapping[str, Any]) -> SourceProgress:
    """Offsets count records in Kafka and in our own sources, and seconds or files in others.

    Where they count records, a batch took as many as its offset went on: after a lost executor Spark counts the records
    that are read again twice. It took fewer where Kafka's markers of transactions lie between them. Elsewhere the batch
    itself shows how many records one step of the offset is.
    """
    rows, name = _figure(source, "numInputRows"), _given(source, "description", str)
    start, end, latest = (source.get(f"{which}Offset") for which in ("start", "end", "latest"))
    before, after, newest = map(position, (start, end, latest))
    went_on = after - before if before is not None and after is not None else 0.0
    counted = counts_records(name, end)
    records = (min(rows, went_on) or went_on) if counted and went_on > 0 else rows
    lag = None
    if after is not None and newest is not None:
        behind = max(0.0, newest - after)
        if behind == 0 or went_on > 0:
            lag = behind * records / went_on if behind else 0.0
        elif counted:  # a first batch has no start
            lag = behind
    return SourceProgress(name, start, end, latest, records, lag)


def counts_records(source: str, offset: object) -> bool:
    """Whether the offsets of a source count its records: those of Kafka and of our own sources do."""
    return source.startswith("Kafka") or (isinstance(offset, Mapping) and RECORD in offset)


def position(offset: object) -> float | None:
    """The sum of the offsets of all partitions; None for an offset that is not made of numbers, or of such as Kafka's
    -1001, which stand for "not known".

    >>> position({"clicks": {"0": 40, "1": 2}}), position({"file": "a.parquet"}), position({"clicks": {"0": -1001}})
    (42.0, None, None)
    """
    if isinstance(offset, Mapping):
        if RECORD in offset:
            return position(offset[RECORD])
        parts = [position(part) for part in offset.values()]
        known = [part for part in parts if part is not None]
        return sum(known) if parts and len(known) == len(parts) else None
    if not isinstance(offset, int | float) or isinstance(offset, bool) or not 0 <= offset < LARGEST:
        return None
    return float(offset)
