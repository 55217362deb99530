from __future__ import annotations

import time

import pytest
from pyspark.sql import SparkSession

from penstock.papers.autrascale.spark.store import asking


@pytest.mark.spark
def test_a_store_answers_no_faster_when_more_ask(spark: SparkSession) -> None:
    """A slow machine takes longer; no machine takes less than the requests need."""
    requests, rate = 61, 40.0
    for instances in (1, 8):
        frame = spark.range(requests).repartition(instances)
        began = time.monotonic()
        assert asking("test", rate)(frame).count() == requests
        # A store that was idle has the answers of one second ready.
        assert time.monotonic() - began >= (requests - 1 - rate) / rate
