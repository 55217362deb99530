"""What is known of a batch before it ends: its offsets.

Spark reports a batch when it is over, and an overloaded one may take minutes. Which records it took is known when it
begins, and how many have come since can be asked of Kafka. The rest of what is known are its stages so far.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.sql.streaming.query import StreamingQuery

from penstock.spark.measure.jvm_clock import scala_object
from penstock.spark.measure.progress import counts_records, position
from penstock.spark.versions import BATCH_CONTEXT, has

LATE = 2.0
"""A batch that takes so many times as long as the longest one of the window before is overdue."""


TRIGGER_START = "org$apache$spark$sql$execution$streaming$ProgressReporter$$currentTriggerStartTimestamp"
"""What Scala calls a private field of a trait in the class that has it."""


@dataclass(frozen=True, slots=True)
class RunningBatch:
    """A batch that a query runs now.

    number   as Spark counts them
    start    Unix seconds at which it began, and read the latest offsets of its sources
    records  records that it took from its sources
    lag      records that it left in them
    since    records that have come to them since it began; None where the sources cannot be asked
    """

    number: int
    start: float
    records: float
    lag: float
    since: float | None


def running_batch(context: SparkContext, query: StreamingQuery) -> RunningBatch | None:
    """The batch that the query runs now; None if it runs none, or if the offsets of a source do not count records."""
    execution = query._jsq.streamingQuery()
    batch = _progress_of(execution)
    sources, records, lag, since = batch.ends.keysIterator(), 0.0, 0.0, 0.0
    asked = True
    while sources.hasNext():
        source = sources.next()
        before, after, newest = (_offset(offsets, source) for offsets in (batch.starts, batch.ends, batch.latest))
        begin, end, latest = position(before), position(after), position(newest)
        if not counts_records(source.toString(), after) or begin is None or end is None:
            return None
        records += end - begin
        lag += max(0.0, (end if latest is None else latest) - end)
        now = _newest_of_kafka(context, source)
        if now is None:
            asked = False
        else:
            since += max(0.0, now - (end if latest is None else latest))
    if records <= 0 or _progress_of(execution).number != batch.number:
        return None
    return RunningBatch(batch.number, batch.start, records, lag, since if asked else None)


@dataclass(frozen=True, slots=True)
class _Progress:
    """How far a query has come, in its own objects: offsets by source."""

    number: int
    start: float
    starts: Any
    ends: Any
    latest: Any


def _progress_of(execution: Any) -> _Progress:
    """Before Spark 4.0 the query itself has what the context of its batch has since."""
    if not has(BATCH_CONTEXT):
        return _Progress(
            execution.currentBatchId(), getattr(execution, TRIGGER_START)() / 1e3,
            execution.committedOffsets(), execution.availableOffsets(), execution.latestOffsets(),
        )  # fmt: skip
    batch = execution.getLatestExecutionContext()
    return _Progress(
        batch.batchId(), batch.currentTriggerStartTimestamp() / 1e3,
        batch.startOffsets(), batch.endOffsets(), batch.latestOffsets(),
    )  # fmt: skip


def _offset(offsets: Any, source: Any) -> object:
    found = offsets.get(source)
    return json.loads(found.get().json()) if found.isDefined() and found.get() is not None else None


def _newest_of_kafka(context: SparkContext, source: Any) -> float | None:
    """The sum of the newest offsets of a Kafka source, as its own reader asks the broker for them."""
    with suppress(Py4JError):  # another source, or a broker that does not answer
        partitions = source.kafkaOffsetReader().fetchLatestOffsets(scala_object(context._jvm.scala, "None"))  # type: ignore[union-attr]
        values, total = partitions.valuesIterator(), 0.0
        while values.hasNext():
            total += values.next()
        return total
    return None
