"""The options `executors` and `wait`, the same for pipelines and native queries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.streaming.readwriter import DataStreamWriter

from penstock import Slo
from penstock.load.curves import constant
from penstock.model import InvalidValueError, PenstockError, Plan
from penstock.spark import NativeQuery, Pipeline, files, replay
from penstock.spark.executors.bounds import Bounds


def never_built(spark: SparkSession, plan: Plan) -> DataStreamWriter:
    raise AssertionError("the options come first")


def started(spark: SparkSession, folder: Path, kind: str, **options: Any) -> None:
    target: dict[str, Any] = {"slo": Slo(event_latency="5 s"), "checkpoint": str(folder / "checkpoint")}
    if kind == "native":
        NativeQuery("numbers", never_built).start(spark, **target, **options)
        return
    job = Pipeline("numbers", source=replay(constant(50.0, 3_600.0)))
    job.operator("only", lambda frame: frame)
    job.sink(files(str(folder / "out")), after="only")
    job.start(spark, **target, **options)


@pytest.mark.spark
@pytest.mark.parametrize("kind", ["pipeline", "native"])
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            {"executors": (1, 3)},
            r"^master local\[16\] has no executors to change: it runs everything inside the driver$",
        ),
        ({"executors": 3}, r"^executors must be the fewest and the most, such as \(1, 20\), not 3$"),
        ({"executors": (1, 3), "wait": "soon"}, r"^wait must be "),
    ],
)
def test_what_cannot_be_is_refused_before_anything_starts(
    kind: str, options: dict[str, Any], said: str, spark: SparkSession, tmp_path: Path
) -> None:
    with pytest.raises(PenstockError, match=said):
        started(spark, tmp_path, kind, **options)
    assert not list(tmp_path.iterdir())
    assert not spark.streams.active


@pytest.mark.parametrize(
    ("executors", "said"),
    [
        ((0, 3), "^executors: the fewest must be a whole number of at least 1"),
        ((3, 2), "^executors: the most must be a whole number of at least 3"),
        ((1, 2, 3), r"^executors must be the fewest and the most, such as \(1, 20\), not \(1, 2, 3\)$"),
    ],
)
def test_bounds_are_two_whole_numbers_the_fewest_first(executors: Any, said: str) -> None:
    with pytest.raises(InvalidValueError, match=said):
        Bounds.of(executors)
