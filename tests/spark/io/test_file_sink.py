"""Batches of files are numbered by their checkpoint: nobody else's are replaced."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock import Slo
from penstock.load.curves import constant
from penstock.model import InvalidValueError, Plan
from penstock.spark import Pipeline, files, replay
from penstock.spark.dry_run import dry_run
from penstock.spark.microbatch.engine import MicroBatchEngine
from spark_jobs import as_text, until

pytestmark = pytest.mark.spark


def pipeline(*folders: Path) -> Pipeline:
    job = Pipeline("job", source=replay(constant(1e6, 0.001), max_records_per_batch=500))
    job.operator("only", as_text)
    for folder in folders:
        job.sink(files(str(folder)), after="only")
    return job


def run(spark: SparkSession, job: Pipeline, checkpoint: Path) -> None:
    engine = MicroBatchEngine(spark, job, dry_run(spark, job), str(checkpoint), batch_seconds=0.05)
    engine.start(Plan({"only": 1}))
    until(lambda: engine.read() and engine.backlog == 0, "the end of the records", engine)
    engine.stop()


def rows(spark: SparkSession, folder: Path) -> int:
    return spark.read.parquet(str(folder)).count()


def test_a_new_checkpoint_over_the_batches_of_another_one_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    job, out = pipeline(tmp_path / "out"), tmp_path / "out"
    run(spark, job, tmp_path / "first")
    assert rows(spark, out) == 1_000
    with pytest.raises(InvalidValueError, match=rf"^files {out} has batches of another checkpoint, which"):
        job.start(spark, slo=Slo(), checkpoint=str(tmp_path / "second"))
    assert rows(spark, out) == 1_000
    run(spark, job, tmp_path / "first")  # its own one goes on
    assert rows(spark, out) == 1_000


def test_a_start_that_failed_does_not_keep_the_folder(spark: SparkSession, tmp_path: Path) -> None:
    job = pipeline(tmp_path / "out")
    failed = MicroBatchEngine(spark, job, dry_run(spark, job), str(tmp_path / "failed"))
    failed._prepare(Plan({"only": 1}))
    run(spark, job, tmp_path / "second")
    assert rows(spark, tmp_path / "out") == 1_000


@pytest.mark.parametrize("other", ["{}/out", "{}/out/", "file:{}/out", "{}/there/../out"])
def test_two_sinks_in_one_folder_are_refused_however_it_is_written(
    spark: SparkSession, tmp_path: Path, other: str
) -> None:
    job = pipeline(tmp_path / "out")
    job.sink(files(other.format(tmp_path)), after="only")
    with pytest.raises(InvalidValueError, match=r"is the folder of two sinks, which would replace each"):
        job.start(spark, slo=Slo(), checkpoint=str(tmp_path / "checkpoint"))
    assert not (tmp_path / "out").exists()
