"""Any source and any sink by the name of its format."""

from __future__ import annotations

import gzip
from datetime import timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock import Slo
from penstock.model import InvalidValueError
from penstock.spark import Pipeline, sink, source
from spark_jobs import until

pytestmark = pytest.mark.spark


def lines(file: Path) -> list[bytes]:
    return gzip.decompress(file.read_bytes()).splitlines()


def test_a_format_is_read_and_another_one_written_with_their_options(spark: SparkSession, tmp_path: Path) -> None:
    job = Pipeline("numbers", source=source("rate", created="timestamp", rowsPerSecond=200))
    job.operator("even", lambda frame: frame.where("value % 2 = 0"))
    job.sink(sink("json", path=str(tmp_path / "out"), compression="gzip"), after="even")
    out = tmp_path / "out"
    with job.start(
        spark, slo=Slo(), checkpoint=str(tmp_path / "checkpoint"), batch="200 ms", mode="off"
    ) as running:  # fmt: skip
        until(lambda: sum(len(lines(part)) for part in out.glob("*.json.gz")) >= 2, "two rows", running)
    written = spark.read.json(str(tmp_path / "out"))
    rows = sorted(written.selectExpr("value", "cast(timestamp as timestamp) as t").collect())
    assert written.columns == ["timestamp", "value"]
    assert [row.value for row in rows] == [2 * number for number in range(len(rows))]
    assert rows[1].t - rows[0].t == timedelta(milliseconds=10), "200 rows are created in a second"


def test_a_column_that_is_not_there_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    job = Pipeline("numbers", source=source("rate", created="made"))
    job.operator("only", lambda frame: frame)
    job.sink(sink("noop"), after="only")
    with pytest.raises(InvalidValueError, match=r"^source rate: created 'made' is not a column. There is: timestamp, "):
        job.start(spark, slo=Slo(), checkpoint=str(tmp_path / "checkpoint"))
