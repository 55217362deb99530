"""The tables of a database, their version, and how those of an earlier version become those of this one."""

from __future__ import annotations

import logging
from collections import defaultdict
from typing import Any

import sqlalchemy as sql

from penstock.model import Cycle, PenstockError
from penstock.stores.codec import from_json, to_json
from penstock.stores.point import POINT_COLUMNS, PointMaker

log = logging.getLogger("penstock")

SCHEMA_VERSION = 3
AT_A_TIME = 1000

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

# The figures of a cycle that charts are made of. A row is a twentieth of the cycle's body, so that a month is read,
# and summed up by the database, in a moment.
points = sql.Table(
    "penstock_points",
    tables,
    sql.Column("job", sql.String(200), primary_key=True),
    sql.Column("number", sql.BigInteger, primary_key=True, autoincrement=False),
    *(sql.Column(name, kind) for name, kind in POINT_COLUMNS.items()),
)

# What the job was, from the cycle `first` on: its operators and targets may be others after a restart.
jobs = sql.Table(
    "penstock_jobs",
    tables,
    sql.Column("job", sql.String(200), primary_key=True),
    sql.Column("first", sql.BigInteger, primary_key=True, autoincrement=False),
    sql.Column("body", sql.Text, nullable=False),
)

states = sql.Table(
    "penstock_states",
    tables,
    sql.Column("job", sql.String(200), primary_key=True),
    sql.Column("policy", sql.String(200), primary_key=True),
    sql.Column("body", sql.Text, nullable=False),
)


def cycle_row(cycle: Cycle) -> dict[str, Any]:
    """The columns of a cycle, but for its job and number."""
    return {
        "t": cycle.t,
        "mode": cycle.mode.value,
        "changed": cycle.changed,
        "reason": cycle.decision.reason.code.value,
        "body": to_json(cycle),
    }


def prepare(connection: sql.Connection, store: str) -> None:
    """Create the tables where there are none, and bring those of an earlier version up to date; refuse later ones."""
    for table in tables.sorted_tables:
        connection.execute(sql.schema.CreateTable(table, if_not_exists=True))
    version = connection.scalar(sql.select(sql.func.max(schema.c.version)))
    if version is None:
        connection.execute(sql.insert(schema).values(version=SCHEMA_VERSION))
    elif version in (1, 2):
        log.info("store %s is of an earlier Penstock: its cycles are made ready for charts, once", store)
        if version == 1:
            _add_points(connection)
        else:
            connection.execute(sql.text("ALTER TABLE penstock_points ADD COLUMN leaving INTEGER"))
        connection.execute(sql.update(schema).values(version=SCHEMA_VERSION))
    elif version != SCHEMA_VERSION:
        raise PenstockError(
            f"store {store} has tables of version {version}, but this Penstock knows {SCHEMA_VERSION}: "
            "use the Penstock that wrote it, or another store"
        )


def _add_points(connection: sql.Connection) -> None:
    """The points of all cycles, by the mean of each latency: version 1 did not keep the targets."""
    last: tuple[Any, ...] = ("", 0)
    point: defaultdict[str, PointMaker] = defaultdict(PointMaker)
    while True:
        after = sql.tuple_(cycles.c.job, cycles.c.number) > sql.tuple_(*map(sql.literal, last))
        query = sql.select(cycles.c.job, cycles.c.number, cycles.c.body).where(after)
        rows = connection.execute(query.order_by(cycles.c.job, cycles.c.number).limit(AT_A_TIME)).all()
        if not rows:
            return
        connection.execute(
            sql.insert(points),
            [{"job": job, "number": number, **point[job](from_json(Cycle, body))} for job, number, body in rows],
        )
        last = tuple(rows[-1][:2])
