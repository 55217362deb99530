"""Which supplier of slots a job gets: that of the options `executors` and `wait`."""

from __future__ import annotations

from datetime import timedelta

from pyspark.sql import SparkSession

from penstock.model import duration
from penstock.spark.executors.bounds import Bounds
from penstock.spark.executors.executor_slots import ExecutorSlots
from penstock.spark.executors.slots import FixedSlots, SlotSupplier


def supplier(spark: SparkSession, executors: tuple[int, int] | None, wait: str | timedelta) -> SlotSupplier:
    """Without `executors` the application keeps those that it has."""
    seconds = duration("wait", wait).total_seconds()
    if executors is None:
        return FixedSlots(spark)
    return ExecutorSlots(spark.sparkContext, bounds=Bounds.of(executors), wait_seconds=seconds)
