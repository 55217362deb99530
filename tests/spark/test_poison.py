"""A record that makes an operator raise ends the job after a few attempts, and the job says where it lies."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pyspark.sql import DataFrame, SparkSession

from patience import HANG_SECONDS, wait_for
from penstock import Slo
from penstock.load.curves import constant
from penstock.spark import Function, Pipeline, files, kafka, replay
from penstock.spark.failure import JobFailedError
from penstock.spark.microbatch.engine import ATTEMPTS
from penstock.spark.realtime.checkpoint import committed, records_by_topic
from penstock.spark.realtime.repair import FAILURES_IN_A_ROW
from spark_jobs import until

pytestmark = pytest.mark.spark


def refuses_bad_records(frame: DataFrame) -> DataFrame:
    return frame.where("if(cast(value as string) = 'bad', raise_error('this is bad'), true)").select("value", "stamp")


def has_committed(spark: SparkSession, folder: str, consumed: dict[str, int]) -> bool:
    last = committed(spark, folder)
    return last is not None and records_by_topic([last.offsets]) == consumed


@pytest.mark.parametrize(("engine", "attempts"), [("microbatch", ATTEMPTS), ("realtime", FAILURES_IN_A_ROW)])
def test_a_poison_record_ends_the_job_with_its_place(
    engine: str, attempts: int, spark: SparkSession, new_topic: Any, checkpoint: str
) -> None:
    source, sink = new_topic(2), new_topic()
    folder = checkpoint if engine == "microbatch" else f"{checkpoint}/parse"
    job = Pipeline("job", source=kafka(source.name, servers=source.broker.servers))
    job.operator("parse", refuses_bad_records)
    job.sink(kafka(sink.name, servers=sink.broker.servers), after="parse")
    with job.start(spark, slo=Slo(), checkpoint=checkpoint, engine=engine, batch="1 s") as running:
        source.producer.produce(source.name, b"good", partition=0)
        source.producer.produce(source.name, b"good", partition=1)
        source.producer.flush()
        until(lambda: has_committed(spark, folder, {source.name: 2}), "a finished batch", running)
        source.producer.produce(source.name, b"bad", partition=1)
        source.producer.flush()
        with pytest.raises(JobFailedError) as failed:
            running.wait(HANG_SECONDS)
    name = "job" if engine == "microbatch" else "parse"
    assert str(failed.value) == (
        f"{name} failed {attempts} times on the same batch: [USER_RAISED_EXCEPTION] this is bad; "
        f"the batch is topic {source.name}, partition 1, offset 1"
    )
    assert spark.streams.active == []
    wait_for(lambda: len(sink.read()) >= 2, "the records before it")
    assert Counter(sink.read()) == {b"good": 2}


def test_a_python_operator_that_raises_is_said_without_its_traceback(spark: SparkSession, tmp_path: Path) -> None:
    def score(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for frame in frames:
            yield frame.assign(offset=int("no number"))

    job = Pipeline("scores", source=replay(constant(100.0, 60.0)))
    job.operator("score", lambda frame: frame.select("offset").mapInPandas(score, "offset long"))
    job.sink(files(str(tmp_path / "out")), after="score")
    with (
        job.start(spark, slo=Slo(), checkpoint=str(tmp_path / "checkpoint"), batch="200 ms") as running,
        pytest.raises(JobFailedError) as failed,
    ):
        running.wait(HANG_SECONDS)
    assert re.match(r"scores failed 3 times on the same batch: ValueError: invalid literal for int", str(failed.value))
    assert "\n" not in str(failed.value)


def test_what_passes_before_the_last_attempt_ends_nothing(spark: SparkSession, tmp_path: Path) -> None:
    """Each batch fails once less than it may: only failures of the same batch count."""
    attempts: Counter[int] = Counter()
    written: set[int] = set()

    def write(frame: DataFrame, batch: int) -> None:
        attempts[batch] += 1
        if attempts[batch] < ATTEMPTS and batch < 2:
            raise ConnectionError("the other system is away")
        written.update(row.offset for row in frame.collect())

    job = Pipeline("tries", source=replay(constant(1e6, 0.001), max_records_per_batch=400))
    job.operator("only", lambda frame: frame.select("offset"))
    job.sink(Function(write), after="only")
    with job.start(spark, slo=Slo(), checkpoint=str(tmp_path), batch="100 ms") as running:
        until(lambda: written == set(range(1_000)), "all records", running)
    assert [attempts[0], attempts[1], attempts[2]] == [ATTEMPTS, ATTEMPTS, 1]
