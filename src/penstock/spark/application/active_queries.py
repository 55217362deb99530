"""Which streaming queries of an application run: those of all its sessions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql.streaming.listener import (
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)
from pyspark.sql.streaming.query import StreamingQuery


def active_queries(session: Any) -> dict[str, StreamingQuery]:
    """The queries that run now, by their runs. `session` is a session of the application, in the JVM."""
    found = {}
    for execution in list(session.sharedState().activeStreamingQueries().values()):
        try:
            query = execution.sparkSession().streams().get(execution.id())
        except Py4JJavaError:  # it has ended meanwhile
            continue
        if query is not None:
            found[query.runId().toString()] = StreamingQuery(query)
    return found


def name_of(query: StreamingQuery) -> str:
    """The name that its owner gave it, else its id, which it keeps as long as it has its checkpoint."""
    return query.name or str(query.id)


class StartsAndEnds(StreamingQueryListener):
    """Calls a function as soon as a query of its session starts or ends."""

    def __init__(self, call: Callable[[], None]) -> None:
        self._call = call

    def onQueryStarted(self, event: QueryStartedEvent) -> None:  # noqa: N802
        self._call()

    def onQueryProgress(self, event: QueryProgressEvent) -> None:  # noqa: N802
        """Do nothing: the monitor of a query reads its progress."""

    def onQueryIdle(self, event: QueryIdleEvent) -> None:  # noqa: N802
        """Do nothing."""

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:  # noqa: N802
        self._call()
