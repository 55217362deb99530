"""Reads what Spark reports of the finished batches of a query, for every engine."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pyspark.sql.streaming.query import StreamingQuery

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
    """

    number: int
    run: str
    start: float
    seconds: float
    sources: tuple[SourceProgress, ...]

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
    """Reads the JSON of one progress event."""
    return BatchProgress(
        number=event["batchId"],
        run=event["runId"],
        start=datetime.fromisoformat(event["timestamp"]).timestamp(),
        seconds=event["batchDuration"] / 1e3,
        sources=tuple(map(_read_source, event["sources"])),
    )


def _read_source(source: Mapping[str, Any]) -> SourceProgress:
    """Offsets count records in Kafka and in our own sources, and seconds or files in others.

    Where they count records, a batch took as many as its offset went on: after a lost executor Spark counts the records
    that are read again twice. It took fewer where Kafka's markers of transactions lie between them. Elsewhere the batch
    itself shows how many records one step of the offset is.
    """
    rows: float = source["numInputRows"]
    start, end, latest = (source.get(f"{which}Offset") for which in ("start", "end", "latest"))
    before, after, newest = map(position, (start, end, latest))
    went_on = after - before if before is not None and after is not None else 0.0
    counted = counts_records(source["description"], end)
    records = (min(rows, went_on) or went_on) if counted and went_on > 0 else rows
    lag = None
    if after is not None and newest is not None:
        behind = max(0.0, newest - after)
        if behind == 0 or went_on > 0:
            lag = behind * records / went_on if behind else 0.0
        elif counted:  # a first batch has no start
            lag = behind
    return SourceProgress(source["description"], start, end, latest, records, lag)


def counts_records(source: str, offset: object) -> bool:
    """Whether the offsets of a source count its records: those of Kafka and of our own sources do."""
    return source.startswith("Kafka") or (isinstance(offset, Mapping) and RECORD in offset)


def position(offset: object) -> float | None:
    """The sum of the offsets of all partitions; None for an offset that is not made of numbers.

    >>> position({"clicks": {"0": 40, "1": 2}}), position({"file": "a.parquet"})
    (42.0, None)
    """
    if isinstance(offset, Mapping):
        if RECORD in offset:
            return position(offset[RECORD])
        parts = [position(part) for part in offset.values()]
        known = [part for part in parts if part is not None]
        return sum(known) if parts and len(known) == len(parts) else None
    return float(offset) if isinstance(offset, int | float) and not isinstance(offset, bool) else None
