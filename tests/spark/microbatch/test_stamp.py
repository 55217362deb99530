"""A stage that is run again makes the same rows again, the stamp included."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest
from pyspark.sql import DataFrame, SparkSession

from penstock.load.curves import constant
from penstock.model import Plan
from penstock.spark import Pipeline, replay
from penstock.spark.dry_run import dry_run
from penstock.spark.microbatch.engine import MicroBatchEngine
from spark_jobs import as_text, until

pytestmark = pytest.mark.spark


class ReadTwice:
    """A sink that computes each batch twice, as Spark does when an executor is lost."""

    reads_again: ClassVar[bool] = False

    def __init__(self) -> None:
        self.batches: dict[int, list[list[str]]] = {}

    def write(self, frame: DataFrame, batch: int) -> None:
        stamps = frame.selectExpr("cast(stamp.taken as string) as taken")
        self.batches[batch] = [[row.taken for row in stamps.collect()] for _ in range(2)]


def test_all_records_of_a_batch_are_taken_at_its_time_however_often_it_is_computed(
    spark: SparkSession, tmp_path: Path
) -> None:
    sink = ReadTwice()
    job = Pipeline("job", source=replay(constant(1e6, 0.01), max_records_per_batch=5_000))
    job.operator("parse", as_text)
    job.operator("spread", lambda frame: frame.where("length(text) > 0"), after="parse", key="text")
    job.sink(sink, after="spread")
    engine = MicroBatchEngine(spark, job, dry_run(spark, job), str(tmp_path / "checkpoint"), batch_seconds=0.05)
    engine.start(Plan({"parse": 2, "spread": 3}))
    until(lambda: len(sink.batches) >= 2, "two batches", engine)
    engine.stop()
    times = []
    for first, again in sink.batches.values():
        assert sorted(first) == sorted(again)
        assert len(set(first)) == 1
        times.append(first[0])
    assert len(set(times)) == len(times)  # each batch has its own
