"""A sink that keeps a table of a database up to date: one row for each key, replaced by the newest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import sqlalchemy as sa
from pyspark.sql import DataFrame
from pyspark.sql import types as t
from sqlalchemy.dialects import mysql, postgresql, sqlite

from penstock.model import InvalidValueError

ROWS_PER_STATEMENT = 500
LOCK_SECONDS = 60.0
"""How long a writer waits for another one: SQLite lets in one at a time."""

# What Spark's types become. Text of limited length, where it is a key, is what every database can index.
COLUMN_TYPES: dict[type[t.DataType], sa.types.TypeEngine[Any]] = {
    t.StringType: sa.String(255),
    t.BinaryType: sa.LargeBinary(),
    t.BooleanType: sa.Boolean(),
    t.ByteType: sa.SmallInteger(),
    t.ShortType: sa.SmallInteger(),
    t.IntegerType: sa.Integer(),
    t.LongType: sa.BigInteger(),
    t.FloatType: sa.Float(),
    t.DoubleType: sa.Float(53),
    t.DateType: sa.Date(),
    t.TimestampType: sa.DateTime(),
    t.TimestampNTZType: sa.DateTime(),
}


def table(url: str, name: str, key: str | Sequence[str]) -> Table:
    """The table `name` of the database at `url`, in SQLAlchemy's form: sqlite:///counts.db. Made if it is missing."""
    return Table(url, name, (key,) if isinstance(key, str) else tuple(key))


@dataclass(frozen=True)
class Table:
    """See `table`. A batch that comes again writes the same rows once more, which changes nothing."""

    url: str
    name: str
    key: tuple[str, ...]
    reads_again: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not self.key:
            raise InvalidValueError(f"table {self.name}: key", "must name a column: rows are replaced by key")

    def write(self, frame: DataFrame, batch: int) -> None:
        described = self._described(frame.schema)
        engine = self._connect()
        described.metadata.create_all(engine)
        engine.dispose()
        columns = [column.name for column in described.columns]

        def upsert(batches: Iterator[Any]) -> Iterator[Any]:
            self._upsert(described, batches)
            return iter(())

        # As a frame, not by foreachPartition: its way over RDDs hangs inside a batch whose source is Python too.
        frame.select(*columns).mapInArrow(upsert, "nothing int").write.format("noop").mode("overwrite").save()

    def _upsert(self, described: sa.Table, batches: Iterator[Any]) -> None:
        engine = self._connect()
        statement = _upsert_statement(engine.dialect.name, described)
        try:
            for batch in batches:
                for first in range(0, batch.num_rows, ROWS_PER_STATEMENT):
                    with engine.begin() as connection:
                        connection.execute(statement, batch.slice(first, ROWS_PER_STATEMENT).to_pylist())
        finally:
            engine.dispose()

    def _described(self, schema: t.StructType) -> sa.Table:
        for column in self.key:
            if column not in schema.names:
                there = ", ".join(schema.names)
                raise InvalidValueError(f"table {self.name}: key", f"{column!r} is not a column. There is: {there}")
        columns = [
            sa.Column(field.name, kind, primary_key=field.name in self.key, autoincrement=False)
            for field in schema.fields
            if (kind := COLUMN_TYPES.get(type(field.dataType))) is not None  # a stamp has no place in a table
        ]
        return sa.Table(self.name, sa.MetaData(), *columns)

    def _connect(self) -> sa.Engine:
        waiting = {"timeout": LOCK_SECONDS} if self.url.startswith("sqlite") else {}
        return sa.create_engine(self.url, connect_args=waiting)


def _upsert_statement(dialect: str, described: sa.Table) -> sa.Executable:
    others = [column.name for column in described.columns if not column.primary_key]
    keys = [column.name for column in described.primary_key.columns]
    if dialect in ("mysql", "mariadb"):
        statement = mysql.insert(described)
        return statement.on_duplicate_key_update({name: statement.inserted[name] for name in others or keys})
    if dialect not in ("sqlite", "postgresql"):
        raise InvalidValueError("table: url", f"must be of SQLite, PostgreSQL, MySQL or MariaDB, not {dialect}")
    insert = sqlite.insert if dialect == "sqlite" else postgresql.insert
    upsert = insert(described)
    if not others:
        return upsert.on_conflict_do_nothing(index_elements=keys)
    return upsert.on_conflict_do_update(index_elements=keys, set_={name: upsert.excluded[name] for name in others})
