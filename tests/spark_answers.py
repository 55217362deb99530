"""What a job's operators make of its first records on Spark, to be compared with what plain Python makes of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from penstock.load.curves import constant
from penstock.model import Plan
from penstock.runs.live import NOWHERE
from penstock.runs.spark_workload import SparkWorkload
from penstock.spark import Function, replay
from penstock.spark.dry_run import dry_run
from penstock.spark.io.endpoints import Sink, Source
from penstock.spark.measure.stamp import CREATED, STAMP, TAKEN
from penstock.spark.microbatch.engine import MicroBatchEngine
from penstock.spark.pipeline import Pipeline
from spark_jobs import until

PARTITIONS = 8
Row = tuple[Any, ...]
Answer = Counter[tuple[str, Row]]
"""How often each row came out of which operator."""


def rows_of(operator: str, rows: Sequence[Row]) -> Answer:
    return Counter((operator, row) for row in rows)


def records_of(chosen: SparkWorkload, records: int) -> list[str]:
    return [value.decode() for value in chosen.values(np.arange(records))]


def answer_of_frames(spark: SparkSession, chosen: SparkWorkload, records: int) -> Answer:
    """The operators applied to one plain frame: no query has to start."""
    pipeline = chosen.pipeline(NOWHERE, NOWHERE)
    topology, now = pipeline.topology(), F.current_timestamp()
    values = [(bytearray(value),) for value in chosen.values(np.arange(records))]
    source = spark.createDataFrame(values, "value binary").repartition(PARTITIONS)
    source = source.withColumn(STAMP, F.struct(now.alias(CREATED), now.alias(TAKEN)))
    frames: dict[str, DataFrame] = {}
    for name in topology.order:
        read = [frames[parent] for parent in topology.parents[name]] or [source]
        frames[name] = pipeline.steps[name].function(reduce(DataFrame.unionByName, read))
    found = Answer()
    for name in topology.leaves:
        found.update(_rows(name, frames[name]))
    return found


def answer_of_micro_batches(spark: SparkSession, chosen: SparkWorkload, records: int, folder: Path) -> Answer:
    found = Answer()

    def collect(operator: str) -> Sink:
        return Function(lambda frame, batch: found.update(_rows(operator, frame)))

    pipeline = between(chosen, replay(constant(1e6, records / 1e6), chosen.values), collect)
    plan = Plan({each.name: min(4, each.max) for each in pipeline.topology().operators})
    trial = dry_run(spark, pipeline)
    engine = MicroBatchEngine(spark, pipeline, trial, str(folder / "checkpoint"), batch_seconds=0.05)
    engine.start(plan)
    until(lambda: engine.read() and engine.backlog == 0, "the end of the records", engine)
    engine.stop()
    return found


def between(chosen: SparkWorkload, source: Source, sink_of: Callable[[str], Sink]) -> Pipeline:
    """The job with a sink of its own for each operator that has one."""
    pipeline = chosen.pipeline(source, NOWHERE)
    pipeline.outlets = [replace(outlet, sink=sink_of(outlet.after)) for outlet in pipeline.outlets]
    return pipeline


def unfit_for_real_time(spark: SparkSession, chosen: SparkWorkload) -> list[str]:
    """The operators that go to Python or lose the stamp."""
    trials = dry_run(spark, chosen.pipeline(replay(constant(1.0, 1.0)), NOWHERE))
    return [name for name, trial in trials.items() if trial.python is not None or not trial.keeps_stamp]


def _rows(operator: str, frame: DataFrame) -> Answer:
    return rows_of(operator, [_plain(row) for row in frame.drop(STAMP).collect()])


def _plain(value: Any) -> Any:
    return tuple(map(_plain, value)) if isinstance(value, list | tuple) else value
