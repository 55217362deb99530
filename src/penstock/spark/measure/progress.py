"""Hears what Spark says of each finished batch of one query."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pyspark.sql.streaming.listener import (
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)

REMEMBERED = 1_000


@dataclass(frozen=True, slots=True)
class Progress:
    """One batch: its number, its source records, and the offset after it in the words of the source."""

    number: int
    records: int
    offset: Any


class ProgressListener(StreamingQueryListener):
    """Keeps the progress of the query whose identity `query` gives; told of all queries of the session."""

    def __init__(self, query: Callable[[], str | None]) -> None:
        self._query = query
        self._lock = threading.Lock()
        self._known: OrderedDict[int, Progress] = OrderedDict()
        self.last: Progress | None = None

    def take(self, number: int) -> Progress | None:
        """The progress of that batch, once; None: it has not been heard of yet."""
        with self._lock:
            return self._known.pop(number, None)

    def onQueryProgress(self, event: QueryProgressEvent) -> None:  # noqa: N802
        progress = event.progress
        if str(progress.runId) != self._query():
            return
        offset = progress.sources[0].endOffset
        heard = Progress(progress.batchId, progress.numInputRows, json.loads(offset) if offset else None)
        with self._lock:
            self.last = self._known[heard.number] = heard
            while len(self._known) > REMEMBERED:
                self._known.popitem(last=False)

    def onQueryStarted(self, event: QueryStartedEvent) -> None: ...  # noqa: N802

    def onQueryIdle(self, event: QueryIdleEvent) -> None: ...  # noqa: N802

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None: ...  # noqa: N802
