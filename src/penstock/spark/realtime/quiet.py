"""Keeps Spark from crying out when a real-time query is stopped on purpose."""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession

# A stop interrupts tasks that run for as long as the query does, and each writes stack traces of several pages.
# When one of them fails by itself, the query's own exception tells.
LOUD = (
    "org.apache.spark.shuffle.streaming",
    "org.apache.spark.sql.execution.datasources.v2",
    "org.apache.spark.sql.execution.streaming.runtime",
    "org.apache.spark.util.ErrorNotifier",
    "org.apache.spark.util.Utils",
    "org.apache.spark.executor.Executor",
    "org.apache.spark.scheduler.TaskSetManager",
    "org.apache.spark.network",
)


def hush_stopped_tasks(spark: SparkSession) -> None:
    jvm: Any = spark.sparkContext._jvm
    logging = jvm.org.apache.logging.log4j
    for name in LOUD:
        logging.core.config.Configurator.setLevel(name, logging.Level.OFF)
