"""The trigger interval of a query. One that does not go on in micro-batches is refused."""

from __future__ import annotations

from typing import Any

from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from penstock.model import PenstockError


def trigger_of_query(query: StreamingQuery) -> float:
    """Seconds from the start of one batch to that of the next, 0 where the query has no trigger interval."""
    return _seconds(query._jsq.streamingQuery().trigger())


def trigger_of_writer(writer: DataStreamWriter) -> float:
    """The same of a query that is not yet started."""
    field = writer._jwrite.getClass().getDeclaredField("trigger")
    field.setAccessible(True)
    return _seconds(field.get(writer._jwrite))


def _seconds(trigger: Any) -> float:
    kind = trigger.getClass().getSimpleName()
    if kind == "ProcessingTimeTrigger":
        return float(trigger.intervalMs()) / 1e3
    raise PenstockError(
        f"a query with trigger {kind.removesuffix('$')} cannot be steered, only one that goes on in micro-batches; "
        "a Pipeline runs in real-time mode under Penstock"
    )
