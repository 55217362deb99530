"""Looks at the times of creation of a batch's records: at a few hundred of them, whatever the size of the batch."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from penstock.spark.measure.accumulators import Gathered, Remembered
from penstock.spark.measure.chance import one_in
from penstock.spark.measure.stamp import CREATED, STAMP

LOOKED_AT = 600
"""Records of a batch, about, if it has as many."""

FIRST_ONE_IN = 1_000
"""Of the first batch, which may be all that has waited for days: nobody knows its size before it is over."""


class TimesOfCreation:
    """Of one batch after the other."""

    def __init__(self, spark: SparkSession) -> None:
        self._gathered = Gathered(spark)
        self._one_in = FIRST_ONE_IN
        self._told_one_in = Remembered(spark, FIRST_ONE_IN)
        chosen = one_in(spark, self._told_one_in.value)
        # Made once: to make a column takes milliseconds.
        self._looking = self._gathered.adding(F.when(chosen, F.unix_micros(F.col(f"{STAMP}.{CREATED}"))))

    def looked_at(self, frame: DataFrame) -> DataFrame:
        """The same records; some of them tell their time as they go by."""
        return frame.where(self._looking)

    def taken(self) -> tuple[int, ...]:
        """Of the batch that is over, in microseconds. The next one is looked at as if it had as many records."""
        times = tuple(self._gathered.taken())
        self._one_in = max(1, len(times) * self._one_in // LOOKED_AT)
        self._told_one_in.set(self._one_in)
        return times
