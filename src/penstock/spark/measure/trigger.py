"""How often a query begins a batch."""

from __future__ import annotations

from pyspark.sql.streaming.query import StreamingQuery

from penstock.model import PenstockError


def trigger_seconds(query: StreamingQuery) -> float:
    """The interval between two batches, 0 for none; refuses a query that does not go on in micro-batches."""
    trigger = query._jsq.streamingQuery().trigger()
    kind = trigger.getClass().getSimpleName()
    if kind == "ProcessingTimeTrigger":
        return float(trigger.intervalMs()) / 1e3
    raise PenstockError(
        f"a query with trigger {kind.removesuffix('$')} cannot be steered, only one that goes on in micro-batches; "
        "a Pipeline runs in real-time mode under Penstock"
    )
