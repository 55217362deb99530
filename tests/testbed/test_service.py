from __future__ import annotations

import time

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812

from penstock.testbed.service import takes


@pytest.mark.spark
def test_an_operator_waits_for_each_record(spark: SparkSession) -> None:
    stamp = F.struct(F.current_timestamp().alias("created")).alias("stamp")
    frame = spark.range(0, 20, 1, 1).select("id", stamp)
    began = time.monotonic()
    kept = takes(10, lambda waited: waited.where("id < 5"))(frame).count()

    assert kept == 5
    assert time.monotonic() - began >= 20 * 0.010  # also for those that it drops
