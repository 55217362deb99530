"""Keeps cycles in a database: SQLite in a file, or any other that SQLAlchemy supports, by its URL."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import sqlalchemy as sql
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

from penstock.control.ports import Store
from penstock.model import Cycle, PenstockError
from penstock.policies import State
from penstock.stores.codec import from_json, to_json

log = logging.getLogger("penstock")

SCHEMA_VERSION = 1

RETENTION = timedelta(days=90)
"""Cycles every ten seconds are 8,640 a day."""

CYCLES_BETWEEN, REMOVED_AT_ONCE = 100, 1_000
"""Old cycles are looked for once in so many new ones, and at most so many are removed then: never a long pause."""

tables = sql.MetaData()

schema = sql.Table("penstock_schema", tables, sql.Column("version", sql.Integer, primary_key=True))

# `number` counts a job's cycles from 1. The primary key is the index that `recent` reads backwards, so its cost
# does not depend on how much was recorded. The columns beside `body` are for queries by hand.
cycles = sql.Table(
    "penstock_cycles",
    tables,
    sql.Column("job", sql.String(200), primary_key=True),
    sql.Column("number", sql.BigInteger, primary_key=True, autoincrement=False),
    sql.Column("t", sql.Double, nullable=False),
    sql.Column("mode", sql.String(20), nullable=False),
    sql.Column("changed", sql.Boolean, nullable=False),
    sql.Column("reason", sql.String(40), nullable=False),
    sql.Column("body", sql.Text, nullable=False),
)

states = sql.Table(
    "penstock_states",
    tables,
    sql.Column("job", sql.String(200), primary_key=True),
    sql.Column("policy", sql.String(200), primary_key=True),
    sql.Column("body", sql.Text, nullable=False),
)


class SqlStore(Store):
    """The cycles of one job; several jobs can share a database and do not see each other."""

    def __init__(self, url: str, job: str = "default", retention: timedelta = RETENTION) -> None:
        """Cycles that are older than `retention`, counted back from the newest one, are removed as new ones come."""
        self.job = job
        self._retention_seconds = retention.total_seconds()
        self._recorded = 0
        try:
            self._file = _file_of(url)
            # A connection that is kept open would go on writing into a file that was deleted.
            self._engine = sql.create_engine(url, poolclass=None if self._file is None else sql.NullPool)
        except (ArgumentError, NoSuchModuleError, ModuleNotFoundError) as error:
            raise PenstockError(f"store {_without_password(url)} cannot be used: {_first_line(error)}") from None
        self._name = self._engine.url.render_as_string(hide_password=True)
        if self._engine.dialect.name == "sqlite":
            sql.event.listen(self._engine, "connect", _prepare_sqlite)
        with self._sentences("opened"):
            self._prepare()

    def record(self, cycle: Cycle, policy: str, state: State | None = None) -> None:
        mine = cycles.c.job == self.job
        row = {
            "job": self.job,
            "number": sql.select(sql.func.coalesce(sql.func.max(cycles.c.number), 0) + 1).where(mine).scalar_subquery(),
            "t": cycle.t,
            "mode": cycle.mode.value,
            "changed": cycle.changed,
            "reason": cycle.decision.reason.code.value,
            "body": to_json(cycle),
        }
        knowledge = None if state is None else to_json(state)
        with self._sentences("written"):
            self._begin_again_if_deleted()
        with self._sentences("written"), self._engine.begin() as connection:
            connection.execute(sql.insert(cycles).values(row))
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
        self._engine.dispose()

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
        if found:
            connection.execute(sql.delete(cycles).where(mine, cycles.c.number.in_(found)))

    def _begin_again_if_deleted(self) -> None:
        """A file that somebody deleted is begun anew: what it held is lost, what comes is kept."""
        if self._file is not None and not self._file.exists():
            log.warning("store %s was deleted: a new one is begun, and what it held is lost", self._name)
            self._prepare()

    def _prepare(self) -> None:
        """Create the tables where there are none; refuse those of another version."""
        with self._engine.begin() as connection:
            for table in tables.sorted_tables:
                connection.execute(sql.schema.CreateTable(table, if_not_exists=True))
            version = connection.scalar(sql.select(sql.func.max(schema.c.version)))
            if version is None:
                connection.execute(sql.insert(schema).values(version=SCHEMA_VERSION))
            elif version != SCHEMA_VERSION:
                raise PenstockError(
                    f"store {self._name} has tables of version {version}, but this Penstock knows {SCHEMA_VERSION}: "
                    "use the Penstock that wrote it, or another store"
                )

    @contextmanager
    def _sentences(self, done: str) -> Iterator[None]:
        try:
            yield
        except SQLAlchemyError as error:
            raise PenstockError(f"store {self._name} cannot be {done}: {_first_line(error)}") from error


def _file_of(url: str) -> Path | None:
    """The file of a SQLite database; None for one in memory, and for other databases."""
    parsed = sql.make_url(url)
    named = parsed.database if parsed.get_backend_name() == "sqlite" else None
    return None if not named or named == ":memory:" or named.startswith("file:") else Path(named)


def _prepare_sqlite(connection: Any, _record: object) -> None:
    """WAL lets a report read while the loop writes. FULL waits for the disk at each commit, so that neither a
    killed process nor a power cut loses more than the current cycle (NORMAL protects from the former only);
    that is one flush to disk for each cycle, and cycles are seconds apart."""
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.close()


def _first_line(error: Exception) -> str:
    """The error text of the database itself, without SQLAlchemy's statement and link."""
    return str(getattr(error, "orig", None) or error).partition("\n")[0]


def _without_password(url: str) -> str:
    try:
        return sql.make_url(url).render_as_string(hide_password=True)
    except ArgumentError:
        return repr(url.rpartition("@")[2])
