"""The column `stamp`: when a record was created, and when the job took it.

Penstock adds it to every source. Latency is measured on the records that still carry it, so an operator that selects
columns should select `stamp` too, and one that aggregates should keep the newest: `max("stamp")`, which compares the
time of creation first. In micro-batches, where all records of a batch leave together, nothing is lost without it. In
real time it is null for most records where there are many of them: some hundreds of a batch show what all are like.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import StructField, StructType, TimestampType

STAMP = "stamp"
CREATED, TAKEN = "created", "taken"
STAMP_TYPE = StructType([StructField(CREATED, TimestampType()), StructField(TAKEN, TimestampType())])


def stamped(frame: DataFrame, created: str, taken: Column) -> DataFrame:
    """`frame` with its stamp: created as its column of that name says, taken at `taken`."""
    return frame.withColumn(STAMP, stamp(created, taken))


def stamp(created: str, taken: Column) -> Column:
    return F.struct(F.col(created).cast("timestamp").alias(CREATED), taken.alias(TAKEN))
