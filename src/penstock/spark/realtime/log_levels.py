"""Keeps Spark's log free of errors when a real-time query is stopped on purpose."""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession

# A stop interrupts tasks that run for as long as the query does, and each writes stack traces of several pages.
# When one of them fails by itself, the query raises it.
NOISY = (
    "org.apache.spark.shuffle.streaming",
    "org.apache.spark.sql.execution.datasources.v2",
    "org.apache.spark.sql.execution.streaming.runtime",
    "org.apache.spark.util.ErrorNotifier",
    "org.apache.spark.util.Utils",
    "org.apache.spark.executor.Executor",
    "org.apache.spark.scheduler.TaskSetManager",
    "org.apache.spark.network",
)


def mute_stopped_tasks(spark: SparkSession) -> None:
    jvm: Any = spark.sparkContext._jvm
    logging = jvm.org.apache.logging.log4j
    for name in NOISY:
        logging.core.config.Configurator.setLevel(name, logging.Level.OFF)
