"""What a log tells of an application: its executors, and the history of each of its streaming queries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator

from penstock.advise import events as e
from penstock.advise.core_time import CoreTime
from penstock.advise.knowledge import Learner
from penstock.advise.log_files import EventLog
from penstock.advise.query_history import Cluster, QueryHistory
from penstock.model import Slo
from penstock.spark.measure.stages import Stage

KEPT_BATCHES = 8
"""Batches of one run whose stages are known and that have not ended: more than one only after a failure."""


class History:
    """One application, as its events come."""

    def __init__(self, slo: Slo, learns: bool = False) -> None:
        """`learns`: a policy learns from every query, to be kept."""
        self.application = ""
        self.name = ""
        self.version = ""
        self.settings: dict[str, str] = {}
        self.core_time = CoreTime()
        self.queries: dict[str, QueryHistory] = {}  # by id
        self.began: float | None = None
        self.ended: float | None = None
        self.other_seconds = 0.0  # held by tasks of no query
        self._slo, self._learns = slo, learns
        self._long_running: set[str] = set()  # runs
        self._running: dict[e.StageKey, tuple[str, int]] = {}
        self._stages: defaultdict[str, dict[int, list[Stage]]] = defaultdict(dict)  # by run and batch

    @property
    def task_cpus(self) -> int:
        return max(1, int(self.settings.get("spark.task.cpus", "1")))

    @property
    def slots(self) -> int:
        return self.core_time.cores // self.task_cpus

    def take(self, event: e.Event) -> None:
        match event:
            case e.BatchEnded():
                self._batch(event)
            case e.StageStarted(key, run, batch, long_running):
                self._running[key] = (run, batch)
                if long_running:
                    self._long_running.add(run)
            case e.StageEnded(key, stage):
                self._stage(stage, *self._running.pop(key, ("", -1)))
            case e.ExecutorAdded(t, id, cores):
                self.core_time.add(t, id, cores)
            case e.ExecutorRemoved(t, id):
                self.core_time.remove(t, id)
            case e.QueryIdle(t, query) if query in self.queries:
                self.queries[query].idle(t)
            case e.QueryStarted(_, query, _, name):
                self._query(query, name)
            case e.ApplicationStarted(t, id, name):
                self.began, self.application, self.name = t, id or name, name
            case e.ApplicationEnded(t):
                self.ended = t
                self.core_time.until(t)
            case e.SettingsRead(settings):
                self.settings = dict(settings)
            case e.LogStarted(version):
                self.version = version

    def close(self) -> None:
        """The log has no more events."""
        for query in self.queries.values():
            query.close()

    def share(self, query: QueryHistory) -> float:
        """The part of the application's cores that a query accounts for, while it ran: that of its tasks' time among
        those of all queries."""
        parts = {other.id: other.task_seconds * part for other, part in self._beside(query)}
        total = sum(parts.values())
        return query.task_seconds / total if total else 1 / len(parts)

    def alone(self, query: QueryHistory) -> bool:
        """Whether no other query ran at the same time."""
        return sum(1 for _ in self._beside(query)) == 1

    def _beside(self, query: QueryHistory) -> Iterator[tuple[QueryHistory, float]]:
        """The queries that ran at the same time, itself included, and the part of their own time that was."""
        for other in self.queries.values():
            together = min(query.end, other.end) - max(query.begin, other.begin)
            if other is query or (other.seconds > 0 and together > 0):
                yield other, 1.0 if other is query else min(1.0, together / other.seconds)

    def _query(self, id: str, name: str | None) -> QueryHistory:
        if id not in self.queries:
            learner = Learner(self._slo) if self._learns else None
            self.queries[id] = QueryHistory(id, name, self._slo.tolerated_lag_seconds, learner)
        return self.queries[id]

    def _stage(self, stage: Stage, run: str, batch: int) -> None:
        if not run:
            self.other_seconds += stage.held_seconds
            return
        of_run = self._stages[run]
        of_run.setdefault(batch, []).append(stage)
        if len(of_run) > KEPT_BATCHES:
            del of_run[min(of_run)]

    def _batch(self, event: e.BatchEnded) -> None:
        query, progress = self._query(event.query, event.name), event.progress
        stages = self._stages[progress.run].pop(progress.number, [])
        query.real_time |= progress.run in self._long_running
        if not event.ran:
            query.idle(progress.end)
            return
        paid = self.core_time.until(progress.end)
        query.add(progress, stages, Cluster(self.core_time.cores, self.slots, self.core_time.executors, paid))


def read_history(
    log: EventLog, slo: Slo, *, learns: bool = False, on_bytes: Callable[[int], None] = lambda read: None
) -> History:
    """Read a whole log. Raises BrokenLogError with the file and the line."""
    history = History(slo, learns)
    for event in e.events(log, on_bytes):
        history.take(event)
    history.close()
    return history
