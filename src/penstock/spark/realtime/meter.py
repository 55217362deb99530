"""Measures inside the operators of a real-time query: records, useful time, latency.

Some hundreds of a batch are timed: those that were given a stamp at the source. All records are counted as they leave
an operator. Latency is that of the records that leave the last operator which keeps the stamp.

What is measured this way is the time of the operator's own function. What Spark spends on taking a record from the
shuffle and handing it on is added from the CPU time of the operator's stage.
For a plain operator, which loses no record and never waits, that CPU time is all: nothing is put in. If it shares the
stage with others it is timed, so that its part of the CPU time is known, but its records need not be counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from penstock.model import Latency
from penstock.spark.measure.accumulators import Gathered, Remembered, worked_out
from penstock.spark.measure.chance import one_in, share
from penstock.spark.measure.jvm_clock import milliseconds
from penstock.spark.measure.operator_meter import Inside, OperatorMeter, behind
from penstock.spark.measure.stamp import CREATED, STAMP, TAKEN

TIMED = 500
"""This many records of a batch, and up to twice as many, are timed if it has them. Four times as many cost some tenths
of a percent more of the CPU time of cheap records. And Spark writes its plan down for every batch, with whatever has
been gathered: ten thousands took more time than the records themselves."""

FIRST_ONE_IN = 1_024
"""The share of the first batch, which is warm-up anyway: its size is not known before it is over, and one in eight of a
million cost a tenth of the throughput."""

SINCE = {"event": CREATED, "processing": TAKEN}
"""What each kind of latency is measured from."""


class Meter:
    """Measures one segment, through all restarts of its query."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._one_in = Remembered(spark, FIRST_ONE_IN)
        self._operators: dict[str, OperatorMeter] = {}  # made when they are first needed
        self._latency = {kind: Gathered(spark) for kind in SINCE}

    # Into the plan ---------------------------------------------------------------------------------------------

    def chosen(self, session: SparkSession) -> Column:
        """Whether a record is one of those that are timed."""
        return one_in(session, self._one_in.value)

    def around(
        self,
        name: str,
        function: Callable[[DataFrame], DataFrame],
        frame: DataFrame,
        *,
        metered: bool = True,
        counted: bool = True,
        last: bool = False,
    ) -> DataFrame:
        """What an operator makes of `frame`.

        metered  whether its records are timed
        counted  whether those that leave it are counted then; if not, as many leave as come
        last     whether latency is measured on what leaves it
        """
        if not metered and not last:
            return function(frame)
        session, arrived, meter = frame.sparkSession, frame, None
        if metered:
            if name not in self._operators:
                self._operators[name] = OperatorMeter(self._spark, counts=counted)
            meter = self._operators[name]
            # This also keeps the optimiser from carrying the operator's filters through the shuffle, to run them with
            # the parallelism of the operator before.
            chosen = F.col(STAMP).isNotNull() if STAMP in frame.columns else self.chosen(session)
            arrived = frame.where(meter.arriving(chosen))
        left = function(arrived)
        timed = worked_out(left, arrived)
        if last:
            timed = timed & self._came(session)
        return behind(left, F.col(STAMP).isNull() | timed if meter is None else meter.leaving(timed))

    def _came(self, session: SparkSession) -> Column:
        event, processing = (
            gathered.adding(milliseconds(session) - F.unix_millis(f"{STAMP}.{SINCE[kind]}"))
            for kind, gathered in self._latency.items()
        )
        return event & processing

    # Out of the accumulators -----------------------------------------------------------------------------------

    def inside(self, name: str) -> Inside:
        """What was measured inside an operator in batches that ended since the last call."""
        return self._operators[name].taken()

    def latency(self) -> dict[str, Latency | None]:
        """Processing and event latency, likewise; None if no record was timed."""
        return {kind: latency_of(gathered.taken()) for kind, gathered in self._latency.items()}

    def discard(self) -> None:
        """Forget what is not taken yet. Some tasks of a batch that was stopped may have ended before it was: their
        records come again, and would be taken for those of the batch that is read next."""
        self.latency()
        for name in self._operators:
            self.inside(name)

    def expect(self, records: int) -> None:
        """Choose how many to time: batches that begin from now on have about as many records."""
        self._one_in.set(share(records, TIMED))


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
