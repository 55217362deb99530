"""Samples the times of creation of a batch's records: a few hundred of them, whatever the size of the batch."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from penstock.spark.measure.accumulators import Gathered, Remembered
from penstock.spark.measure.chance import one_in
from penstock.spark.measure.stamp import CREATED, STAMP

SAMPLED = 600
"""About this many records of a batch are sampled, if it has as many."""

FIRST_ONE_IN = 1_000
"""The share of the first batch, which may be all that has waited for days: its size is not known before it is over."""


class TimesOfCreation:
    """Samples one batch after the other."""

    def __init__(self, spark: SparkSession) -> None:
        self._gathered = Gathered(spark)
        self._one_in = FIRST_ONE_IN
        self._one_in_tasks = Remembered(spark, FIRST_ONE_IN)
        chosen = one_in(spark, self._one_in_tasks.value)
        # Made once: to make a column takes milliseconds.
        self._sampling = self._gathered.adding(F.when(chosen, F.unix_micros(F.col(f"{STAMP}.{CREATED}"))))

    def sampled(self, frame: DataFrame) -> DataFrame:
        """The same records; the times of some are kept as they pass."""
        return frame.where(self._sampling)

    def taken(self) -> tuple[int, ...]:
        """The times of the batch that is over, in microseconds. The next one is sampled as if it were as large."""
        times = tuple(self._gathered.taken())
        self._one_in = max(1, len(times) * self._one_in // SAMPLED)
        self._one_in_tasks.set(self._one_in)
        return times
