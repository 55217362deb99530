"""Measures inside one operator: times some of its records, and counts those that leave it where that is not known.

Where records are cheap and many, next to nothing may be done for each of them: a record that is not timed costs two
looks at a number. A task takes one record after the other
through the code of its operators, so it is the task that remembers when the record at work came in. Of several records
that an operator makes of one, the first is timed: what it takes to the next has the work of all operators behind it.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from penstock.spark.measure.accumulators import Remembered, SumAccumulator
from penstock.spark.measure.jvm_clock import nanoseconds

NOT_TIMED = 0
METERED = "penstock: metered"
"""A column of our own, dropped again before the operator behind."""


@dataclass(frozen=True, slots=True)
class Inside:
    """What was measured inside one operator.

    records_out  records that left it; 0 where the meter does not count them
    timed        how many of them were timed
    seconds      seconds that those spent inside it
    """

    records_out: int
    timed: int
    seconds: float

    @property
    def seconds_per_record(self) -> float | None:
        """None if no record was timed."""
        return self.seconds / self.timed if self.timed else None

    @property
    def missed(self) -> bool:
        """Whether records were seen to leave it, but none of those that were chosen to be timed."""
        return self.records_out > 0 and not self.timed


class OperatorMeter:
    """Measures one operator, in all frames that it is put into.

    To make a column takes tens of calls to the JVM, milliseconds together: those that every frame has are made once.
    """

    def __init__(self, spark: SparkSession, *, counts: bool = True) -> None:
        """
        counts  whether records are counted as they leave; an operator that hands on each record as one needs it not
        """
        self._started = Remembered(spark, NOT_TIMED)
        self._out = _Read(SumAccumulator(spark)) if counts else None
        self._inside = _Read(SumAccumulator(spark))
        started, self._now = self._started.value, nanoseconds(spark)
        self._is_timed = started != NOT_TIMED
        self._over = self._started.setting(F.lit(NOT_TIMED).cast("long"))
        self._timing = self._inside.accumulator.adding(self._now - started) & self._over
        self._counting = None if self._out is None else self._out.accumulator.adding(F.lit(1).cast("long"))

    def arriving(self, chosen: Column) -> Column:
        """A condition for records that come to the operator: those that are `chosen` will be timed."""
        # A record that was timed and did not leave must not be taken for this one.
        return F.when(chosen, self._started.setting(self._now)).otherwise(~self._is_timed | self._over)

    def leaving(self, timed: Column) -> Column:
        """A condition for records that leave the operator; `timed` is evaluated first, for those that are timed."""
        left = ~self._is_timed | (timed & self._timing)
        return left if self._counting is None else left & self._counting

    def taken(self) -> Inside:
        """What was measured since the last call, in tasks that have ended."""
        records_out = 0 if self._out is None else self._out.more()[0]
        nanoseconds_spent, timed = self._inside.more()
        return Inside(records_out, timed, nanoseconds_spent / 1e9)


def behind(frame: DataFrame, condition: Column) -> DataFrame:
    """Evaluate a condition when a record has left the operator. It is a column, since the optimiser would move a
    condition in front of what the operator selects."""
    return frame.withColumn(METERED, condition).where(F.col(f"`{METERED}`")).drop(METERED)


class _Read:
    """A sum, and how much of it has been read."""

    def __init__(self, accumulator: SumAccumulator) -> None:
        self.accumulator = accumulator
        self._sum, self._count = 0, 0

    def more(self) -> tuple[int, int]:
        """What was added since the last call: the sum, and of how many values."""
        total, count = self.accumulator.sum, self.accumulator.count
        more = total - self._sum, count - self._count
        self._sum, self._count = total, count
        return more
