"""Measures inside the operators of a real-time query: records, useful time, latency.

Where records are cheap and many, next to nothing may be done for each of them. All are counted as they leave an
operator, and some hundreds of a batch are timed: those that were given a stamp at the source. A task takes one record
after the other through the code of its operator, so it is the task that remembers when the record at work came in.
Latency is that of the records that leave the last operator which keeps the stamp.

What is measured this way is the time of the operator's own function. What Spark spends on taking a record from the
shuffle and handing it on is added from the CPU time of the operator's stage.
For a plain operator, which loses no record and never waits, that CPU time is all: nothing is put in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from penstock.model import Latency
from penstock.spark.measure.accumulators import Gathered, Remembered, SumAccumulator, worked_out
from penstock.spark.measure.chance import one_in
from penstock.spark.measure.jvm_clock import milliseconds, nanoseconds
from penstock.spark.measure.stamp import CREATED, STAMP, TAKEN

TIMED = 500
"""This many records of a batch, and up to twice as many, are timed if it has them. Four times as many cost some tenths
of a percent more of the CPU time of cheap records. And Spark writes its plan down for every batch, with whatever has
been gathered: ten thousands took more time than the records themselves."""

FIRST_ONE_IN = 1_024
"""The share of the first batch, which is warm-up anyway: its size is not known before it is over, and one in eight of a
million cost a tenth of the throughput."""

NOT_TIMED = 0
METERED = "penstock: metered"
"""A column of our own, dropped again before the operator behind."""
SINCE = {"event": CREATED, "processing": TAKEN}
"""What each kind of latency is measured from."""


class Meter:
    """Measures one segment, through all restarts of its query."""

    def __init__(self, spark: SparkSession, operators: Sequence[str]) -> None:
        """The operators that are not plain."""
        self._one_in = Remembered(spark, FIRST_ONE_IN)
        self._started = {name: Remembered(spark) for name in operators}
        self._out = {name: _Read(SumAccumulator(spark)) for name in operators}
        self._inside = {name: _Read(SumAccumulator(spark)) for name in operators}
        self._latency = {kind: Gathered(spark) for kind in SINCE}

    # Into the plan ---------------------------------------------------------------------------------------------

    def chosen(self, session: SparkSession) -> Column:
        """Whether a record is one of those that are timed."""
        return one_in(session, self._one_in.value)

    def around(
        self, name: str, function: Callable[[DataFrame], DataFrame], frame: DataFrame, *, last: bool = False
    ) -> DataFrame:
        """What an operator makes of `frame`, which comes from its shuffle.

        With `last`, latency is measured on what leaves it.
        """
        plain = name not in self._out
        if plain and not last:
            return function(frame)
        arrived = frame if plain else self._arrived(frame, name)
        left = function(arrived)
        timed = worked_out(left, arrived)
        if last:
            timed = timed & self._came(frame.sparkSession)
        return _behind(left, F.col(STAMP).isNull() | timed if plain else self._left(frame.sparkSession, name, timed))

    def _arrived(self, frame: DataFrame, name: str) -> DataFrame:
        """This also keeps the optimiser from carrying the operator's filters through the shuffle, to run them with the
        parallelism of the operator before."""
        session = frame.sparkSession
        chosen = F.col(STAMP).isNotNull() if STAMP in frame.columns else self.chosen(session)
        now = F.when(chosen, nanoseconds(session)).otherwise(NOT_TIMED)
        return frame.where(self._started[name].setting(now))

    def _left(self, session: SparkSession, name: str, timed: Column) -> Column:
        started = self._started[name].value
        timed = timed & self._inside[name].accumulator.adding(nanoseconds(session) - started)
        return self._out[name].accumulator.adding(F.when((started == NOT_TIMED) | timed, 1).cast("long"))

    def _came(self, session: SparkSession) -> Column:
        event, processing = (
            gathered.adding(milliseconds(session) - F.unix_millis(f"{STAMP}.{SINCE[kind]}"))
            for kind, gathered in self._latency.items()
        )
        return event & processing

    # Out of the accumulators -----------------------------------------------------------------------------------

    def records_out(self, name: str) -> int | None:
        """Records that left an operator in batches that ended since the last call; None: as many as came."""
        return self._out[name].more()[0] if name in self._out else None

    def seconds_per_record(self, name: str) -> float | None:
        """Seconds spent inside an operator for a record, likewise; None if no record was timed."""
        nanoseconds_spent, timed = self._inside[name].more() if name in self._inside else (0, 0)
        return nanoseconds_spent / timed / 1e9 if timed else None

    def latency(self) -> dict[str, Latency | None]:
        """Processing and event latency, likewise; None if no record was timed."""
        return {kind: latency_of(gathered.taken()) for kind, gathered in self._latency.items()}

    def expect(self, records: int) -> None:
        """Choose how many to time: batches that begin from now on have about as many records.

        One in a power of two, which Java's generator draws without a division.
        """
        self._one_in.set(1 << (max(1, records // TIMED).bit_length() - 1))


def _behind(frame: DataFrame, condition: Column) -> DataFrame:
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
