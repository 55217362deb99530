"""Measures inside the operators of a chain, which share a stage: Spark's own account of the stage is of all of them.

All records are counted as they leave an operator. Of a native operator some hundreds of them are timed: others are
like them. An operator in Python takes in records until it has a block, and waits for the block then: there every record
is one that may be the last before the wait, and the waits are added up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from penstock.spark.dry_run import DryRun
from penstock.spark.graph import Step
from penstock.spark.measure.accumulators import Remembered, worked_out
from penstock.spark.measure.chance import one_in, share
from penstock.spark.measure.operator_meter import OperatorMeter, behind
from penstock.spark.microbatch.attribution import Metering, Timing

TIMED = 500
"""This many records of a batch, and up to twice as many, are timed in each native operator, if as many leave it."""

FIRST_ONE_IN = 128
"""The share of the first batch: its size is not known before it is over."""


class ChainMeter:
    """Measures the operators of a job, in those batches in which they are asked for."""

    def __init__(self, spark: SparkSession, dry_runs: Mapping[str, DryRun]) -> None:
        self._spark = spark
        self._dry_runs = dry_runs
        self._meters: dict[str, _Metered] = {}  # made when they are first needed

    def around(self, step: Step, frame: DataFrame) -> DataFrame:
        """What an operator makes of `frame`."""
        if step.name not in self._meters:
            self._meters[step.name] = _Metered(self._spark, _timing(self._dry_runs[step.name]))
        meter = self._meters[step.name]
        arrived = frame.where(meter.arriving)
        left = step.function(arrived)
        return behind(left, meter.leaving(worked_out(left, arrived)))

    def taken(self, operators: Sequence[str]) -> dict[str, Metering]:
        """What was measured in the batch that is over. The next one is measured as if it were as large."""
        return {name: self._meters[name].taken() for name in operators}

    def discard(self) -> None:
        """Forget what a batch that has failed left behind."""
        for meter in self._meters.values():
            meter.discard()


class _Metered:
    """The meter of one operator, and how many of its records are timed."""

    def __init__(self, spark: SparkSession, timing: Timing) -> None:
        self._timing = timing
        self._meter = OperatorMeter(spark)
        self._one_in = Remembered(spark, FIRST_ONE_IN)
        chosen = {
            Timing.SOME: one_in(spark, self._one_in.value),
            Timing.WAITS: F.lit(True),
            Timing.NONE: F.lit(False),
        }
        self.arriving = self._meter.arriving(chosen[timing])  # made once: to make a column takes milliseconds

    def leaving(self, timed: Column) -> Column:
        return self._meter.leaving(timed)

    def discard(self) -> None:
        self._meter.taken()

    def taken(self) -> Metering:
        inside = self._meter.taken()
        self._one_in.set(share(inside.records_out, TIMED))
        return Metering(inside, self._timing)


def _timing(dry_run: DryRun) -> Timing:
    if not dry_run.passes:
        return Timing.NONE
    return Timing.SOME if dry_run.python is None else Timing.WAITS
