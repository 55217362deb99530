"""A sink that keeps a table of a database up to date: one row for each key, replaced by the newest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import sqlalchemy as sa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as t
from sqlalchemy.dialects import mysql, postgresql, sqlite

from penstock.model import InvalidValueError
from penstock.model.extras import ensure
from penstock.spark.io.endpoints import Incoming
from penstock.spark.measure.stamp import STAMP

ROWS_PER_STATEMENT = 500
LOCK_SECONDS = 60.0
"""How long a writer waits for another one: SQLite lets in one at a time."""

KEY_TEXT = sa.String(255)
"""Text of limited length is what every database can index."""

# What Spark's types become. Others have no place in a table, and are refused.
COLUMN_TYPES: dict[type[t.DataType], sa.types.TypeEngine[Any]] = {
    t.StringType: sa.Text(),
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


def table(url: str, name: str, key: str | Sequence[str], newest: str | None = None) -> Table:
    """The table `name` of the database at `url`, in SQLAlchemy's form: sqlite:///counts.db. Made if it is missing.

    newest  of several rows of a batch with the same key, the one with the largest value of this column is kept; none:
            the one with the newest stamp
    """
    return Table(url, name, (key,) if isinstance(key, str) else tuple(key), newest)


@dataclass(frozen=True)
class Table:
    """See `table`. A batch that comes again writes the same rows once more, which changes nothing."""

    url: str
    name: str
    key: tuple[str, ...]
    newest: str | None = None
    reads_again: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not self.key:
            raise InvalidValueError(f"table {self.name}: key", "must name a column: rows are replaced by key")

    def prepare(self, spark: SparkSession, incoming: Incoming) -> None:
        """Refuse columns that no table has, and rows of which nobody knows which is the newest."""
        ensure("arrow")
        schema = incoming.schema
        described = self._described(schema)
        _upsert_statement(sa.make_url(self.url).get_backend_name(), described)
        by = self.newest or STAMP
        if by not in schema.names and (self.newest or not any(unique <= set(self.key) for unique in incoming.unique)):
            raise InvalidValueError(
                f"table {self.name}: newest",
                f"{by!r} is not a column, so nothing says which of two rows of a batch with the same key is newer: "
                "let the operator keep `stamp`, name a column with newest=, or group by the key",
            )

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
        written = self._one_for_each_key(frame, columns).mapInArrow(upsert, "nothing int")
        written.write.format("noop").mode("overwrite").save()

    def _one_for_each_key(self, frame: DataFrame, columns: Sequence[str]) -> DataFrame:
        """The newest row of each key. Otherwise the task that commits last would win, and that is anybody.

        Of rows that are equally new the largest is taken, so that a batch that comes again writes the same.
        """
        by = self.newest or STAMP
        if by not in frame.columns:
            return frame.select(*columns)  # there is one row for each key: see `prepare`
        row = F.struct(F.col(by).alias("by"), *(column for column in columns if column not in self.key))
        newest = frame.groupBy(*self.key).agg(F.max(row).alias("row"))
        return newest.select(*(column if column in self.key else F.col(f"row.`{column}`") for column in columns))

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
            sa.Column(field.name, self._type(field), primary_key=field.name in self.key, autoincrement=False)
            for field in schema.fields
            if field.name != STAMP
        ]
        return sa.Table(self.name, sa.MetaData(), *columns)

    def _type(self, field: t.StructField) -> sa.types.TypeEngine[Any]:
        kind, sqlite_file = field.dataType, self.url.startswith("sqlite")
        if isinstance(kind, t.DecimalType) and not sqlite_file:
            return sa.Numeric(kind.precision, kind.scale)
        if field.name in self.key and isinstance(kind, t.StringType):
            return KEY_TEXT
        found = COLUMN_TYPES.get(type(kind))
        if found is None:
            where = "SQLite, which has no exact decimals" if isinstance(kind, t.DecimalType) else "a table"
            raise InvalidValueError(
                f"table {self.name}: column {field.name}",
                f"has the type {kind.simpleString()}, for which there is no place in {where}: drop it, cast it, or "
                "make it text with to_json",
            )
        return found

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
