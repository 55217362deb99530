"""Measures inside the operators of a real-time query: records, useful time, latency.

Records are cheap and many, so next to nothing may be done for each of them. All are counted as they leave an operator,
and one in `one_in` is timed. A task takes one record after the other through the code of its operator, so it is the
task that remembers when the record at work came in; nothing is added to the records themselves. Latency is that of
the records that are timed in the last operator which keeps the stamp.

What is measured this way is the time of the operator's own function. What Spark spends on taking a record from the
shuffle and handing it on is added from the CPU time of the operator's stage: see `penstock.spark.realtime.stage_cpu`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from penstock.model import Latency
from penstock.spark.chance import one_in
from penstock.spark.jvm_clock import milliseconds, nanoseconds
from penstock.spark.stamp import CREATED, STAMP, TAKEN
from penstock.spark.tally import Gathered, Remembered, Tally, worked_out

MEASURE_ONE_IN = 32
NOT_TIMED = 0
LATENCIES = 1_000
"""Of a batch, about. Spark writes its plan down for every batch, and with it all that was gathered: there must not be
ten thousands."""

METERED = "penstock: metered"
"""A column that nobody else has, and nobody sees."""
SINCE = {"event": CREATED, "processing": TAKEN}
"""What each kind of latency is measured from."""


class Meter:
    """Measures one segment, through all restarts of its query."""

    def __init__(self, spark: SparkSession, operators: int, one_in: int) -> None:
        self._one_in = one_in
        self._started = [Remembered(spark) for _ in range(operators)]
        self._left = [_Read(Tally(spark)) for _ in range(operators)]
        self._inside = [_Read(Tally(spark)) for _ in range(operators)]
        self._timed = [_Read(read.tally) for read in self._inside]
        self._latency = {kind: Gathered(spark) for kind in SINCE}
        self._latency_of_one_in = Remembered(spark, 1)  # of those that are timed
        self._last = operators - 1

    # Into the plan ---------------------------------------------------------------------------------------------

    def arrived(self, frame: DataFrame, place: int) -> DataFrame:
        """In front of an operator, the `place`-th of its segment, behind its shuffle.

        This is also a wall: without it the optimiser would carry the operator's filters through the shuffle, to run
        them with the parallelism of the operator before.
        """
        session = frame.sparkSession
        now = F.when(one_in(session, self._one_in), nanoseconds(session)).otherwise(NOT_TIMED)
        return frame.where(self._started[place].setting(now))

    def left(self, frame: DataFrame, place: int, *, last: bool = False) -> DataFrame:
        """Behind the operator. With `last`, what leaves it has come to the end of its way, as far as stamps tell."""
        session, started = frame.sparkSession, self._started[place].value
        timed = self._inside[place].tally.adding(nanoseconds(session) - started)
        if last:
            self._last = place
            chosen = one_in(session, self._latency_of_one_in.value)
            for kind, since in SINCE.items():
                late = milliseconds(session) - F.unix_millis(f"{STAMP}.{since}")
                timed = timed & self._latency[kind].adding(F.when(chosen, late))
        left = F.when(worked_out(frame) & ((started == NOT_TIMED) | timed), 1).cast("long")
        # As a column, since a condition would be carried in front of what the operator selects.
        metered = frame.withColumn(METERED, self._left[place].tally.adding(left))
        return metered.where(F.col(f"`{METERED}`")).drop(METERED)

    # Out of the accumulators -----------------------------------------------------------------------------------

    def records_out(self, place: int) -> int:
        """Records that left an operator in batches that ended since this was last asked."""
        return self._left[place].more()[0]

    def seconds_per_record(self, place: int) -> float | None:
        """Spent inside an operator, likewise; None if no record was timed."""
        nanoseconds_spent, timed = self._inside[place].more()
        return nanoseconds_spent / timed / 1e9 if timed else None

    def latency(self) -> dict[str, Latency | None]:
        """`processing` and `event`, likewise; None if no record was timed."""
        _, timed = self._timed[self._last].more()
        self._latency_of_one_in.set(max(1, timed // LATENCIES))
        return {kind: latency_of(gathered.taken()) for kind, gathered in self._latency.items()}


class _Read:
    """A tally, and how much of it has been read."""

    def __init__(self, tally: Tally) -> None:
        self.tally = tally
        self._sum, self._count = 0, 0

    def more(self) -> tuple[int, int]:
        """What was added since the last call: the sum, and of how many values."""
        total, count = self.tally.sum, self.tally.count
        more = total - self._sum, count - self._count
        self._sum, self._count = total, count
        return more


def latency_of(milliseconds_each: Sequence[int]) -> Latency | None:
    """Mean and percentiles.

    >>> latency_of([10, 30, -1])
    Latency(mean=13.333333333333334, p50=10.0, p95=28.0, p99=29.6)
    """
    if not milliseconds_each:
        return None
    # Clocks of two machines may disagree by a little; nothing arrives before it was made.
    values = np.maximum(milliseconds_each, 0)
    return Latency(float(values.mean()), *(float(value) for value in np.percentile(values, (50, 95, 99))))
