"""A job in micro-batches whose batches cannot be measured: they run all the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn

import pytest
from pyspark.sql import SparkSession

from microbatch_jobs import engine_of
from penstock.load.curves import constant
from penstock.model import InvalidValueError, Plan
from penstock.spark import Pipeline, files, replay
from penstock.spark.measure import progress
from penstock.spark.microbatch.creation import TimesOfCreation
from penstock.spark.microbatch.engine import REMEMBERED_PROGRESS
from penstock.spark.settings import temporary_settings
from spark_jobs import as_text, until

pytestmark = pytest.mark.spark

RECORDS, BATCHES = 5_000, 5


def refused(*given: Any) -> NoReturn:
    raise InvalidValueError("timestamp of Spark's progress", "is not as Spark writes it")


def written(folder: Path) -> int:
    return len(list(folder.glob("batch=*/_SUCCESS")))


@pytest.mark.parametrize("part", [(progress, "read_progress"), (TimesOfCreation, "sampled")], ids=["report", "sample"])
def test_batches_run_whatever_is_wrong_with_their_figures(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: tuple[Any, str]
) -> None:
    monkeypatch.setattr(*part, refused)
    job = Pipeline("unmeasured", source=replay(constant(1e6, RECORDS / 1e6), max_records_per_batch=RECORDS // BATCHES))
    job.operator("only", as_text)
    job.sink(files(str(tmp_path / "out")), after="only")
    with temporary_settings(spark, {REMEMBERED_PROGRESS: "5"}):  # what Spark reports is taken with each batch
        engine = engine_of(spark, job, tmp_path)
    engine.start(Plan({"only": 1}))
    until(lambda: written(tmp_path / "out") == BATCHES, "all batches", engine)
    if part[0] is progress:
        with pytest.raises(InvalidValueError, match="is not as Spark writes it"):
            engine.read()
    engine.stop()
    assert engine.wait(10.0)
    rows = spark.read.parquet(str(tmp_path / "out")).selectExpr("count(*)", "count(distinct text)")
    assert rows.first() == (RECORDS, RECORDS)
