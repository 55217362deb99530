"""A job in micro-batches that is stopped and started again."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from microbatch_jobs import engine_of
from penstock.load.curves import constant
from penstock.model import Plan
from penstock.spark import Function, Pipeline, files, replay
from spark_jobs import as_text, until

pytestmark = pytest.mark.spark

STARTS = 5


def test_no_batch_runs_again_after_a_stop(spark: SparkSession, tmp_path: Path) -> None:
    """A sink that cannot count a batch once would have its records twice."""
    ran: list[int] = []
    job = Pipeline("again", source=replay(constant(2_000.0, 3600.0), max_records_per_batch=1_000))
    job.operator("only", as_text)
    job.sink(Function(lambda frame, batch: ran.append(batch)), after="only")
    for _ in range(STARTS):
        engine, before = engine_of(spark, job, tmp_path), len(ran)
        engine.start(Plan({"only": 1}))
        until(lambda: len(ran) >= before + 2, "some batches", engine)  # noqa: B023
        engine.stop()
        assert engine.wait(10.0)
    assert ran == list(range(len(ran)))


def test_a_job_started_again_goes_on_where_it_stopped(spark: SparkSession, tmp_path: Path) -> None:
    source = replay(constant(1e6, 0.01), max_records_per_batch=1_000)
    job = Pipeline("again", source=source)
    job.operator("only", as_text)
    job.sink(files(str(tmp_path / "out")), after="only")
    written = tmp_path / "out"
    first = engine_of(spark, job, tmp_path)
    first.start(Plan({"only": 1}))
    until(lambda: len(list(written.glob("batch=*/_SUCCESS"))) >= 3, "some batches", first)
    first.stop()
    second = engine_of(spark, job, tmp_path)
    second.start(Plan({"only": 2}))
    until(lambda: second.read() and second.backlog == 0, "the rest", second)
    second.stop()
    rows = spark.read.parquet(str(written)).selectExpr("count(*)", "count(distinct text)")
    assert rows.first() == (10_000, 10_000)
