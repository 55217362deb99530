"""A job in micro-batches whose batches cannot be measured: they run all the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn

import pytest
from pyspark.sql import SparkSession

from microbatch_jobs import engine_of
from penstock.load.curves import constant
from penstock.model import InvalidValueError, Plan
from penstock.spark import Function, Pipeline, replay
from penstock.spark.measure import progress
from penstock.spark.microbatch.creation import TimesOfCreation
from penstock.spark.microbatch.engine import REMEMBERED_PROGRESS
from penstock.spark.settings import temporary_settings
from spark_jobs import until

pytestmark = pytest.mark.spark

RECORDS = 5_000


def refused(*given: Any) -> NoReturn:
    raise InvalidValueError("timestamp of Spark's progress", "is not as Spark writes it")


@pytest.mark.parametrize("part", [(progress, "read_progress"), (TimesOfCreation, "sampled")], ids=["report", "sample"])
def test_batches_run_whatever_is_wrong_with_their_figures(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: tuple[Any, str]
) -> None:
    monkeypatch.setattr(*part, refused)
    came: dict[int, list[int]] = {}  # by batch, as a sink keeps it that may be given a batch again
    job = Pipeline("unmeasured", source=replay(constant(1e6, RECORDS / 1e6), max_records_per_batch=1_000))
    job.operator("only", lambda frame: frame)
    job.sink(Function(lambda frame, batch: came.update({batch: [row.offset for row in frame.collect()]})), after="only")
    with temporary_settings(spark, {REMEMBERED_PROGRESS: "5"}):  # what Spark reports is taken with each batch
        engine = engine_of(spark, job, tmp_path)
    engine.start(Plan({"only": 1}))
    until(lambda: sum(map(len, came.values())) >= RECORDS, "all records", engine)
    if part[0] is progress:
        with pytest.raises(InvalidValueError, match="is not as Spark writes it"):
            engine.read()
    engine.stop()
    assert engine.wait(10.0)
    assert sorted(offset for batch in came.values() for offset in batch) == list(range(RECORDS))
