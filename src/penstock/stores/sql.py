"""Keeps cycles in a database: SQLite in a file, or any other that SQLAlchemy supports, by its URL."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Sequence
from datetime import timedelta

import sqlalchemy as sql

from penstock.control.ports import Store
from penstock.model import Cycle, JobDescription
from penstock.policies import State
from penstock.stores.codec import from_json, to_json
from penstock.stores.database import Database
from penstock.stores.description import description_json, read_description
from penstock.stores.point import PointMaker
from penstock.stores.tables import cycle_row, cycles, jobs, points, prepare, states

log = logging.getLogger("penstock")

RETENTION = timedelta(days=90)
"""Cycles every ten seconds are 8,640 a day."""

CYCLES_BETWEEN, REMOVED_AT_ONCE = 100, 1_000
"""Old cycles are looked for once in so many new ones, and at most so many are removed then: never a long pause."""


class SqlStore(Store):
    """The cycles of one job; several jobs can share a database and do not see each other."""

    def __init__(self, url: str, job: str = "default", retention: timedelta = RETENTION) -> None:
        """Cycles that are older than `retention`, counted back from the newest one, are removed as new ones come."""
        self.job = job
        self._retention_seconds = retention.total_seconds()
        self._recorded = 0
        self.database = Database(url)
        self._engine = self.database.engine
        self._sentences = self.database.sentences
        self._file = self.database.file
        self._point = PointMaker()
        with self._sentences("opened"):
            self._prepare()

    def describe(self, description: JobDescription) -> None:
        self._point.description = description
        with self._sentences("written"), self._engine.begin() as connection:
            first = self._newest() + 1
            # A run that ended before its first cycle may have left one.
            connection.execute(sql.delete(jobs).where(jobs.c.job == self.job, jobs.c.first == first))
            row = {"job": self.job, "first": first, "body": description_json(description)}
            connection.execute(sql.insert(jobs).values(row))

    def description(self) -> JobDescription | None:
        newest = sql.select(jobs.c.body).where(jobs.c.job == self.job).order_by(jobs.c.first.desc()).limit(1)
        with self._sentences("read"), self._engine.connect() as connection:
            body = connection.scalar(newest)
        return None if body is None else read_description(body)

    def record(self, cycle: Cycle, policy: str, state: State | None = None) -> None:
        row, point = cycle_row(cycle), self._point(cycle)
        knowledge = None if state is None else to_json(state)
        with self._sentences("written"):
            self._begin_again_if_deleted()
        with self._sentences("written"), self._engine.begin() as connection:
            # The first statement writes, so that it waits for others who write: reading first would fail instead.
            connection.execute(sql.insert(cycles).values(job=self.job, number=self._newest() + 1, **row))
            connection.execute(sql.insert(points).values(job=self.job, number=self._newest(), **point))
            if knowledge is not None:
                self._keep_state(connection, policy, knowledge)
            if self._recorded % CYCLES_BETWEEN == 0:
                self._remove(connection, older_than=cycle.t - self._retention_seconds)
            self._recorded += 1

    def recent(self, count: int) -> Sequence[Cycle]:
        newest = cycles.c.number.desc()
        query = sql.select(cycles.c.body).where(cycles.c.job == self.job).order_by(newest).limit(max(0, count))
        with self._sentences("read"), self._engine.connect() as connection:
            bodies = connection.scalars(query).all()
        return [from_json(Cycle, body) for body in reversed(bodies)]

    def state(self, policy: str) -> State | None:
        query = sql.select(states.c.body).where(states.c.job == self.job, states.c.policy == policy)
        with self._sentences("read"), self._engine.connect() as connection:
            body = connection.scalar(query)
        state: State | None = None if body is None else json.loads(body)
        return state

    def all(self) -> Iterator[Cycle]:
        """Every cycle of the job, oldest first, without loading them all into memory: for reports."""
        query = sql.select(cycles.c.body).where(cycles.c.job == self.job).order_by(cycles.c.number)
        with self._sentences("read"), self._engine.connect() as connection:
            for body in connection.execution_options(yield_per=500).scalars(query):
                yield from_json(Cycle, body)

    def close(self) -> None:
        self.database.close()

    def _newest(self) -> sql.ScalarSelect[int]:
        """The number of the newest cycle, 0 before the first, inside a statement."""
        newest = sql.func.coalesce(sql.func.max(cycles.c.number), 0)
        return sql.select(newest).where(cycles.c.job == self.job).scalar_subquery()

    def _keep_state(self, connection: sql.Connection, policy: str, body: str) -> None:
        """Update the state, or else insert it: an upsert is written differently in every database."""
        mine = (states.c.job == self.job) & (states.c.policy == policy)
        if connection.execute(sql.update(states).where(mine).values(body=body)).rowcount == 0:
            connection.execute(sql.insert(states).values(job=self.job, policy=policy, body=body))

    def _remove(self, connection: sql.Connection, older_than: float) -> None:
        """Remove the oldest cycles, some at a time. The primary key finds them, however many there are."""
        mine = cycles.c.job == self.job
        oldest = sql.select(cycles.c.number, cycles.c.t).where(mine).order_by(cycles.c.number).limit(REMOVED_AT_ONCE)
        found = [number for number, t in connection.execute(oldest) if t < older_than]
        for table in (cycles, points) if found else ():
            connection.execute(sql.delete(table).where(table.c.job == self.job, table.c.number.in_(found)))

    def _begin_again_if_deleted(self) -> None:
        """A file that somebody deleted is begun anew: what it held is lost, what comes is kept."""
        if self._file is not None and not self._file.exists():
            log.warning("store %s was deleted: a new one is begun, and what it held is lost", self.database.name)
            self._prepare()
            if self._point.description is not None:
                self.describe(self._point.description)

    def _prepare(self) -> None:
        self.database.make_private()
        with self._engine.begin() as connection:
            prepare(connection, self.database.name)
