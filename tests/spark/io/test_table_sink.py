"""A table has the newest row of each key, and every column that it was given; what it cannot have is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from penstock.load.curves import constant
from penstock.model import InvalidValueError, Plan
from penstock.spark import Pipeline, replay, table
from penstock.spark.dry_run import dry_run
from penstock.spark.io.table_sink import Table
from penstock.spark.microbatch.engine import MicroBatchEngine
from spark_jobs import until

pytestmark = pytest.mark.spark

Operator = Callable[[DataFrame], DataFrame]


def engine(spark: SparkSession, operator: Operator, sink: Table, folder: Path) -> MicroBatchEngine:
    job = Pipeline("job", source=replay(constant(1e6, 0.001), max_records_per_batch=1_000))
    job.operator("only", operator, max=8)
    job.sink(sink, after="only")
    return MicroBatchEngine(spark, job, dry_run(spark, job), str(folder / "checkpoint"), batch_seconds=0.05)


def test_of_rows_with_the_same_key_the_newest_is_kept_whichever_task_commits_last(
    spark: SparkSession, tmp_path: Path
) -> None:
    """The task that has the newest record is made to end first: it would be overwritten by the others."""
    wait = "reflect('java.lang.Thread', 'sleep', cast(if(offset = 999, 0, 1) as bigint)) = 'null'"
    url = f"sqlite:///{tmp_path / 'counts.db'}"
    made = engine(
        spark, lambda frame: frame.where(wait).selectExpr("'all' as name", "offset", "stamp"),
        table(url, "last", "name", newest="offset"), tmp_path,
    )  # fmt: skip
    made.start(Plan({"only": 8}))
    until(lambda: made.read() and made.backlog == 0, "the end of the records", made)
    made.stop()
    with sa.create_engine(url).connect() as connection:
        assert connection.execute(sa.text("select name, offset from last")).all() == [("all", 999)]


@pytest.mark.parametrize(
    ("column", "what"),
    [
        ("array(offset)", "array<bigint>"),
        ("map(offset, offset)", "map<bigint,bigint>"),
        ("struct(offset)", "struct<offset:bigint>"),
        ("cast(offset as decimal(9, 2))", "decimal(9,2)"),
    ],
)
def test_a_column_that_has_no_place_is_refused_before_the_start(
    spark: SparkSession, tmp_path: Path, column: str, what: str
) -> None:
    made = engine(
        spark, lambda frame: frame.selectExpr("offset as id", f"{column} as more", "stamp"),
        table(f"sqlite:///{tmp_path / 'a.db'}", "rows", "id"), tmp_path,
    )  # fmt: skip
    with pytest.raises(InvalidValueError) as refused:
        made.start(Plan({"only": 1}))
    assert str(refused.value).startswith(f"table rows: column more has the type {what}, for which there is no place")
    assert not (tmp_path / "a.db").exists()


def test_a_decimal_is_exact_where_the_database_has_decimals() -> None:
    from pyspark.sql.types import DecimalType, StructField, StructType

    schema = StructType([StructField("price", DecimalType(9, 2))])
    described = table("postgresql://nobody/there", "prices", "price")._described(schema)
    assert str(described.c.price.type) == "NUMERIC(9, 2)"


def test_rows_of_which_nobody_knows_the_newest_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    sink = table(f"sqlite:///{tmp_path / 'a.db'}", "rows", "id")
    ambiguous = engine(spark, lambda frame: frame.selectExpr("offset % 3 as id", "offset"), sink, tmp_path)
    with pytest.raises(InvalidValueError, match=r"^table rows: newest 'stamp' is not a column, so nothing says"):
        ambiguous.start(Plan({"only": 1}))
    grouped = engine(
        spark, lambda frame: frame.groupBy((F.col("offset") % 3).alias("id")).agg(F.max("offset")), sink, tmp_path
    )
    grouped.start(Plan({"only": 1}))  # each key is there once
    grouped.stop()
