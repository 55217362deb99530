"""Checkpoints and files on a real HDFS: nothing of them lands on the disk of the driver."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock import Slo
from penstock.load.curves import constant
from penstock.model import InvalidValueError
from penstock.spark import Pipeline, files, replay
from penstock.spark.hadoop_folder import HadoopFolder
from penstock.testbed.hadoop import hdfs_cluster
from spark_jobs import as_text, until

pytestmark = [pytest.mark.spark, pytest.mark.cluster]


@pytest.fixture(scope="module")
def hdfs() -> Iterator[str]:
    with hdfs_cluster() as address:
        yield address


def test_a_job_goes_on_from_a_checkpoint_in_hdfs(
    spark: SparkSession, hdfs: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    checkpoint, out = f"{hdfs}/jobs/clicks", f"{hdfs}/out"
    job = Pipeline("clicks", source=replay(constant(1e6, 0.01), max_records_per_batch=1_000))
    job.operator("only", as_text)
    job.sink(files(out), after="only")
    written = HadoopFolder(spark, out)

    def batches() -> int:
        return sum(name.startswith("batch=") for name in written.names())

    for wanted in (2, 5):  # the second run goes on
        with job.start(spark, slo=Slo(), checkpoint=checkpoint, batch="200 ms", mode="off") as running:
            until(lambda: batches() >= wanted, "batches", running)  # noqa: B023
    assert {"offsets", "commits", "penstock.json"} <= set(HadoopFolder(spark, checkpoint).names())
    offsets = [row.offset for row in spark.read.parquet(out).selectExpr("cast(text as string) as offset").collect()]
    assert sorted(map(int, offsets)) == list(range(len(offsets))), "each once, from the first on"
    with pytest.raises(InvalidValueError, match="has batches of another checkpoint"):
        job.start(spark, slo=Slo(), checkpoint=f"{hdfs}/jobs/other", mode="off")
    assert list(tmp_path.iterdir()) == []
