"""Lets the operators of a batch read its source themselves.

`foreachBatch` hands over a batch as rows that are made already: all columns of each, and copied once more where they
are read. For records that cost half a microsecond that is a seventh of it. The plan that the query has made for the
batch is there too, though: its scan takes the place of the rows, so that the scan and the operators are one piece of
generated code, in which no row is made that nobody asks for. It is still the query's own scan, which counts the rows
that it reads for the query's progress.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from penstock.spark.versions import RESULT_STAGE, has

SCAN = "org.apache.spark.sql.execution.datasources.v2.MicroBatchScanExec"


def with_its_scan(batch: DataFrame, query: StreamingQuery) -> DataFrame:
    """The same records as `batch`, which `query` has just handed over, read by whoever uses them.

    It is `batch` itself if the source is one that Spark does not read by a single scan, under adaptive execution, which
    would wait for the stage below to be materialised, and before Spark 4.0, which has no node that runs a plan.
    """
    session = batch.sparkSession
    if not has(RESULT_STAGE) or session.conf.get("spark.sql.adaptive.enabled") == "true":
        return batch
    plan: Any = query._jsq.streamingQuery().lastExecution().executedPlan()
    leaves, handed_over = plan.collectLeaves(), batch._jdf.queryExecution().logical()
    scan = leaves.head()
    # The columns have numbers of their own in each query: the plan is that of the query which handed over the batch.
    if leaves.size() != 1 or scan.getClass().getName() != SCAN or not scan.outputSet().equals(handed_over.outputSet()):
        return batch
    classes = _classes(session.sparkContext._jvm)
    # A stage that has a plan: the one node that runs a plan as it stands. What it makes need not be rows as Spark's
    # operators expect them; the projection sees to that, and is left out where they are not needed.
    stage = classes.project(scan.output(), classes.stage(0, scan, None))
    read = classes.logical_stage(handed_over, stage)
    return DataFrame(classes.dataset.ofRows(session._jsparkSession, read), session)


@dataclass(frozen=True)
class _Classes:
    """Classes of the JVM. To find one by its name takes a call for each part of the name."""

    project: Any
    stage: Any
    logical_stage: Any
    dataset: Any


@lru_cache(maxsize=1)
def _classes(jvm: Any) -> _Classes:
    sql = jvm.org.apache.spark.sql
    execution, adaptive = sql.execution, sql.execution.adaptive
    return _Classes(
        execution.ProjectExec, adaptive.ResultQueryStageExec, adaptive.LogicalQueryStage, sql.classic.Dataset
    )
