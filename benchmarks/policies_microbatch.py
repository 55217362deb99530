"""Policies on real Spark, in micro-batches, on a cluster: time outside the target, and core-seconds by events.

Ten minutes; what is run stands in `spark_contest`.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks import spark_contest
from benchmarks.spark_contest import Bar, Row

ENGINE = "microbatch"
SECONDS, PEAK, SLOTS = spark_contest.SECONDS, spark_contest.PEAKS[ENGINE], spark_contest.SLOTS[ENGINE]


def rows() -> Iterator[Row | Bar]:
    yield from spark_contest.rows_of(ENGINE)
