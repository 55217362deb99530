"""Spark's loggers are silent while a real-time query is stopped, and at no other time."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import SparkSession

from patience import wait_for
from penstock.spark.realtime import log_levels
from penstock.spark.realtime.log_levels import NOISY, muted

pytestmark = pytest.mark.spark


def levels(spark: SparkSession) -> list[str]:
    jvm: Any = spark.sparkContext._jvm
    return [str(jvm.org.apache.logging.log4j.LogManager.getLogger(name).getLevel()) for name in NOISY]


def test_levels_come_back_after_a_stop(spark: SparkSession) -> None:
    jvm: Any = spark.sparkContext._jvm
    wait_for(lambda: "OFF" not in levels(spark))  # an earlier test may have stopped a query just now
    log4j = jvm.org.apache.logging.log4j
    log4j.core.config.Configurator.setLevel(NOISY[0], log4j.Level.INFO)  # its owner wants to hear this one
    before = levels(spark)
    with muted(spark):
        assert set(levels(spark)) == {"OFF"}
        with muted(spark):
            pass
        log_levels._restore(jvm)  # as the inner stop does some seconds later
        assert set(levels(spark)) == {"OFF"}, "another stop is under way"
    wait_for(lambda: levels(spark) == before)
    assert before[0] == "INFO"
    log4j.core.config.Configurator.setLevel(NOISY[0], log4j.Level.ERROR)
