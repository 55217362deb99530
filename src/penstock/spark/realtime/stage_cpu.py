"""The CPU time of a real-time query's operators, from the stages that ran them."""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession


def cpu_seconds(spark: SparkSession, run: str, batch: int, operators: int) -> tuple[float, ...] | None:
    """CPU seconds of each operator in one batch of a query's run.

    A segment is a line of stages: one that reads the topics, then one for each operator, the shuffles between them
    included. An operator that shuffles inside has more than one stage, and then nobody can tell which is whose: None.
    """
    context: Any = spark.sparkContext._jsc.sc()
    store = context.statusStore()
    for job in sorted(context.statusTracker().getJobIdsForGroup(run), reverse=True):
        found = store.job(job)
        described = found.description()
        if described.isDefined() and described.get().endswith(f"batch = {batch}"):
            stages = found.stageIds()
            ids = sorted(stages.apply(i) for i in range(stages.size()))
            if len(ids) != operators + 1:
                return None
            return tuple(store.lastStageAttempt(i).executorCpuTime() / 1e9 for i in ids[1:])
    return None
