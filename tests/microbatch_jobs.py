"""Jobs in micro-batches for tests: an engine with short batches, and what it measures of a job that has warmed up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from penstock.model import Plan, Sample
from penstock.spark import Pipeline
from penstock.spark.dry_run import dry_run
from penstock.spark.microbatch.engine import MicroBatchEngine
from spark_jobs import until


def engine_of(
    spark: SparkSession, job: Pipeline, folder: Path, batch_seconds: float = 0.05, **options: Any
) -> MicroBatchEngine:
    """An engine for `job` that keeps its checkpoint below `folder`; `options` are the engine's own."""
    checkpoint = str(folder / "checkpoint")
    return MicroBatchEngine(spark, job, dry_run(spark, job), checkpoint, batch_seconds=batch_seconds, **options)


def records(sample: Sample) -> float:
    """Source records that came through in a window."""
    return (sample.throughput or 0.0) * sample.seconds


def run_until(engine: MicroBatchEngine, plan: Plan, enough: int) -> list[Sample]:
    """Start, and collect samples of a job that has warmed up until there are `enough`.

    On a busy machine a batch may be overdue or find nothing: windows without records are left out.
    """
    seen: list[Sample] = []
    engine.start(plan)

    def read() -> bool:
        seen.extend(sample for sample in engine.read() if sample.throughput and not sample.warm_up)
        return len(seen) >= enough

    until(read, "samples", engine)
    engine.stop()
    return seen
