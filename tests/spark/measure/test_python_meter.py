"""Python functions that measure themselves, on real workers."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pyspark import cloudpickle
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from penstock.load.curves import constant
from penstock.model import Plan, Sample
from penstock.spark import Function, Pipeline, metered, replay
from penstock.spark.dry_run import dry_run
from penstock.spark.measure.python_meter import Metered
from penstock.spark.microbatch.engine import MicroBatchEngine
from spark_jobs import until

pytestmark = pytest.mark.spark

SLEEP = 0.02

# Workers cannot import a test: what they run travels with them.
cloudpickle.register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call]


def in_pandas(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    for frame in frames:
        time.sleep(SLEEP)
        yield frame


def in_arrow(batches: Iterator[Any]) -> Iterator[Any]:
    for batch in batches:
        time.sleep(SLEEP)
        yield batch


def of_one(number: int) -> int:
    time.sleep(SLEEP / 10)
    return number


def test_it_counts_what_it_does_and_not_what_it_waits_for() -> None:
    spent: list[float] = []
    meter = Metered(in_pandas)
    meter._add = spent.append  # type: ignore[assignment, method-assign]

    def slow_input() -> Iterator[pd.DataFrame]:
        for _ in range(3):
            time.sleep(10 * SLEEP)
            yield pd.DataFrame()

    assert len(list(meter(slow_input()))) == 3
    (useful,) = spent
    assert 3 * SLEEP <= useful < 3 * 10 * SLEEP


def test_a_plain_function_stays_what_it_is() -> None:
    assert metered(of_one)(7) == 7


def operators() -> dict[str, Any]:
    pandas, arrow, one = metered(in_pandas), metered(in_arrow), F.udf(metered(of_one), "long", useArrow=False)

    def by_udf(frame: DataFrame) -> DataFrame:
        return frame.select(one("offset").alias("offset"))

    return {
        "pandas": lambda frame: frame.select("offset").mapInPandas(pandas, "offset long"),
        "arrow": lambda frame: frame.select("offset").mapInArrow(arrow, "offset long"),
        "udf": by_udf,
    }


def test_each_kind_of_python_operator_reports_its_own_time(spark: SparkSession, tmp_path: Path) -> None:
    job = Pipeline("python", source=replay(constant(1e6, 0.0001)))  # a hundred records
    for name, function in operators().items():
        job.operator(name, function)
        job.sink(Function(lambda frame, batch: None), after=name)
    dry_runs = dry_run(spark, job)
    assert {name: len(each.meters) for name, each in dry_runs.items()} == {"pandas": 1, "arrow": 1, "udf": 1}
    engine = MicroBatchEngine(spark, job, dry_runs, str(tmp_path), batch_seconds=0.05)
    engine.start(Plan.smallest(job.topology()))
    seen: list[Sample] = []

    def read() -> bool:
        seen.extend(engine.read())
        return any(sample.operators["pandas"].records_in for sample in seen)

    until(read, "a sample", engine)
    engine.stop()
    held_up = {name: (operator.latency_ms or 0.0) / 1e3 for name, operator in seen[0].operators.items()}
    assert held_up["pandas"] >= SLEEP
    assert held_up["arrow"] >= SLEEP
    assert held_up["udf"] >= 100 * SLEEP / 10
