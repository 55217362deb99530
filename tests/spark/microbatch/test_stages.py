"""The stages of a micro-batch: which operators share one, and where there is a shuffle."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pandas as pd
import pytest
from pyspark import cloudpickle
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from microbatch_jobs import engine_of, records, run_until
from penstock.load.curves import constant
from penstock.model import Plan, Sample
from penstock.spark import Pipeline, files, replay
from penstock.spark.io.endpoints import Sink
from spark_jobs import as_text, until, working

pytestmark = pytest.mark.spark


class Planned:
    """A sink that remembers how Spark ran what it was given."""

    reads_again: ClassVar[bool] = False

    def __init__(self) -> None:
        self.plans: list[str] = []

    def write(self, frame: DataFrame, batch: int) -> None:
        self.plans.append(frame._jdf.queryExecution().executedPlan().toString())
        frame.write.format("noop").mode("overwrite").save()


def in_python(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    for frame in frames:
        time.sleep(0.004 * len(frame))
        yield frame


# Workers cannot import a test: what they run travels with them.
cloudpickle.register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call]


def mixed(sink: Sink) -> Pipeline:
    """Native, Python, a filter, all that may share a stage; then a shuffle inside an operator, and a key."""
    job = Pipeline("mixed", source=replay(constant(100.0, 3_600.0)))
    job.operator("parse", as_text)
    job.operator("native", working(2), after="parse")
    python = "text string, value binary"
    job.operator("python", lambda frame: frame.drop("stamp").mapInPandas(in_python, python), after="native")
    job.operator("half", lambda frame: frame.where("crc32(value) % 2 = 0"), after="python")
    job.operator("count", lambda frame: frame.groupBy(F.right("text", F.lit(1)).alias("digit")).count(), after="half")
    job.operator("digit", lambda frame: frame.groupBy("digit").sum("count"), after="count", key="digit")
    job.operator("again", lambda frame: frame.groupBy("digit").count(), after="digit", key="digit")
    job.sink(sink, after="again")
    return job


def test_operators_share_a_stage_where_nothing_asks_for_a_shuffle(spark: SparkSession, tmp_path: Path) -> None:
    """And each is measured nevertheless: counted, and with the time that it took."""
    sink = Planned()
    job = mixed(sink)
    samples = run_until(engine_of(spark, job, tmp_path), Plan(dict.fromkeys(job.steps, 2)), 3)
    sample = samples[-1]
    shuffles = [line for line in sink.plans[-1].splitlines() if "Exchange" in line]
    assert len(shuffles) == 2  # the one inside count, and the one for the key of digit and again

    came = {name: operator.records_in or 0.0 for name, operator in sample.operators.items()}
    left = {name: operator.records_out for name, operator in sample.operators.items()}
    assert came["parse"] == came["native"] == came["python"] == came["half"] == pytest.approx(records(sample))
    assert 0 < came["count"] < came["half"]
    assert 0 < came["digit"] <= came["count"]
    assert [left[name] for name in ("parse", "half", "count")] == [came[name] for name in ("native", "count", "digit")]
    assert left["digit"] == came["again"]

    useful = {name: operator.useful_seconds or 0.0 for name, operator in sample.operators.items()}
    assert useful["native"] >= 0.002 * came["native"]
    assert useful["python"] >= 0.004 * came["python"]
    # In the least disturbed of the windows: a pause inside an operator that takes microseconds is all that it shows.
    least = {name: min(each.operators[name].useful_seconds or 0.0 for each in samples) for name in useful}
    assert max(least["parse"], least["half"]) < min(least["native"], least["python"])
    assert all(seconds > 0 for seconds in useful.values())
    assert all(batch.stage_seconds < batch.seconds for batch in sample.batches or ())


def test_without_chaining_there_is_a_shuffle_in_front_of_each_operator(spark: SparkSession, tmp_path: Path) -> None:
    sink = Planned()
    job = Pipeline("apart", source=replay(constant(1e6, 0.002), max_records_per_batch=200))
    job.operator("first", as_text)
    job.operator("second", lambda frame: frame.withColumn("more", F.length("text")), after="first")
    job.sink(sink, after="second")
    engine = engine_of(spark, job, tmp_path, chaining=False)
    engine.start(Plan({"first": 2, "second": 2}))
    until(lambda: len(sink.plans) >= 1, "a batch", engine)
    engine.stop()
    assert len([line for line in sink.plans[0].splitlines() if "Exchange" in line]) == 2


def test_batches_that_are_not_measured_run_as_they_were_written(spark: SparkSession, tmp_path: Path) -> None:
    sink = Planned()
    job = Pipeline("bare", source=replay(constant(1e6, 0.002), max_records_per_batch=200))
    job.operator("first", as_text)
    job.operator("second", lambda frame: frame.where("text >= '0'"), after="first")
    job.sink(sink, after="second")
    engine = engine_of(spark, job, tmp_path)
    engine._monitor._measure_after = 3_600.0  # the first batch is measured, and none after it
    engine.start(Plan.smallest(job.topology()))
    until(lambda: len(sink.plans) >= 4, "some batches", engine)
    engine.stop()
    measured, *others = sink.plans
    assert "initializejavabean" in measured.lower()
    assert not [plan for plan in others if "initializejavabean" in plan.lower()]


@pytest.mark.parametrize("instances", [2, 3])
def test_an_operators_filter_runs_with_its_own_parallelism(spark: SparkSession, tmp_path: Path, instances: int) -> None:
    """Spark would push it through a shuffle to the other side, where it runs in as many tasks as the source has."""
    job = Pipeline("wall", source=replay(constant(1e6, 0.001), partitions=2))
    job.operator("few", lambda frame: frame.where("offset < 10"))
    job.sink(files(str(tmp_path / "out")), after="few")
    engine = engine_of(spark, job, tmp_path)
    engine.start(Plan({"few": instances}))
    seen: list[Sample] = []

    def all_came_through() -> bool:
        seen.extend(engine.read())
        return round(sum(records(sample) for sample in seen)) == 1_000

    until(all_came_through, "all records", engine)
    engine.stop()
    measured = [(records(sample), few) for sample in seen if (few := sample.operators["few"]).records_in is not None]
    assert measured  # not every batch is, and the records may have come in two
    for came, few in measured:
        assert few.records_in == pytest.approx(came)
        assert (few.records_out or 0) < came / 2
