"""Lets the operators of a batch read its source themselves.

`foreachBatch` hands over a batch as rows that are made already: all columns of each, and copied once more where they
are read. For records that cost half a microsecond that is a seventh of it. The plan that the query has made for the
batch is there too, though: its scan takes the place of the rows, so that the scan and the operators are one piece of
generated code, in which no row is made that nobody asks for. It is still the query's own scan, which counts the rows
that it reads for the query's progress.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from penstock.spark.versions import RESULT_STAGE, has

SCAN = "org.apache.spark.sql.execution.datasources.v2.MicroBatchScanExec"


class BatchScan:
    """Reads the batches of a job, each with one more column.

    The column stands in the plan that holds the scan, as Spark analyses a plan anew for each call that makes a frame:
    milliseconds, while all cores wait.
    """

    def __init__(self, spark: SparkSession, name: str, column: Column) -> None:
        self._name, self._column = name, column
        self._read: Any = None  # the columns that the batches had when those of `_wider` were analysed
        self._wider: Any = None
        if has(RESULT_STAGE):  # to find a class by its name takes a call for each part of the name
            jvm: Any = spark.sparkContext._jvm
            sql = jvm.org.apache.spark.sql
            self._dataset = sql.classic.Dataset
            self._project = sql.execution.ProjectExec
            self._stage = sql.execution.adaptive.ResultQueryStageExec
            self._logical_stage = sql.execution.adaptive.LogicalQueryStage
            self._logical_project = sql.catalyst.plans.logical.Project

    def of(self, batch: DataFrame, query: StreamingQuery | None) -> DataFrame:
        """The same records as `batch`, which `query` has just handed over, read by whoever uses them.

        They are read as they were handed over if the query is not known yet, if the source is one that Spark does not
        read by a single scan, under adaptive execution, which would wait for the stage below to be materialised, and
        before Spark 4.0, which has no node that runs a plan.
        """
        session = batch.sparkSession
        if query is None or not has(RESULT_STAGE) or session.conf.get("spark.sql.adaptive.enabled") == "true":
            return self._widened(batch)
        plan: Any = query._jsq.streamingQuery().lastExecution().executedPlan()
        leaves, handed_over = plan.collectLeaves(), batch._jdf.queryExecution().logical()
        scan, columns = leaves.head(), handed_over.outputSet()
        # Columns have numbers of their own in each query: the plan is that of the query which handed over the batch.
        if leaves.size() != 1 or scan.getClass().getName() != SCAN or not scan.outputSet().equals(columns):
            return self._widened(batch)
        if self._read is None or not self._read.equals(columns):  # the first batch of a query
            self._read = columns
            self._wider = self._widened(batch)._jdf.queryExecution().analyzed().projectList()
        # A stage that has a plan: the one node that runs a plan as it stands. What it makes need not be rows as Spark's
        # operators expect them; the projection sees to that, and is left out where they are not needed.
        stage = self._project(scan.output(), self._stage(0, scan, None))
        read = self._logical_project(self._wider, self._logical_stage(handed_over, stage))
        return DataFrame(self._dataset.ofRows(session._jsparkSession, read), session)

    def _widened(self, batch: DataFrame) -> DataFrame:
        return batch.withColumn(self._name, self._column)
