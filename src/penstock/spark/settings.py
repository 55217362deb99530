"""Settings of a Spark session that Penstock changes while it starts a query."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from pyspark.sql import SparkSession

PARTITIONS = "spark.sql.shuffle.partitions"
"""How many partitions the shuffles have that Spark puts in itself, such as those in front of state."""

KEEP_EVERY_STAGE = {"spark.sql.optimizer.excludedRules": "org.apache.spark.sql.catalyst.optimizer.CollapseRepartition"}
"""The optimiser would drop the shuffle in front of an operator that only selects, and its parallelism with it."""


@contextmanager
def temporary_settings(spark: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
    """A query keeps the settings it was started under; the session gets its own back."""
    before = {name: spark.conf.get(name, None) for name in settings}
    for name, value in settings.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, earlier in before.items():
            spark.conf.unset(name) if earlier is None else spark.conf.set(name, earlier)
