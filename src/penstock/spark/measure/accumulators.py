"""Objects that generated code calls for each record: sums that reach the driver, and numbers that a task remembers.

Spark has a verb for measuring a stream, `observe`, but it is a node of the plan that breaks the generated code in two
and passes every record through slower code: some 0.4 µs each, as much as a cheap operator takes. A call inside the
generated code takes a few nanoseconds, and none where there is no value. What a task adds to a sum reaches the driver
when the task ends; what a task that was killed had added never does.

Everything here is a condition that always holds. It is declared not to be deterministic, so Spark evaluates it once
for each record, where it stands, and moves no filter past it.
"""

from __future__ import annotations

import json
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession

from penstock.spark.internals import column_of, expression_of
from penstock.spark.measure.jvm_clock import scala_object

VALUES_IN_A_CALL = 350
"""A call through the gateway for each value would take long, and so does an answer of more than 8 KB: it is written in
two pieces, and the second waits 40 ms for the first to be acknowledged."""


class SumAccumulator:
    """How many values there were, and their sum. Whole numbers only."""

    def __init__(self, spark: SparkSession) -> None:
        self._accumulator = _registered(spark, "LongAccumulator")
        self._spark = spark

    def adding(self, value: Column) -> Column:
        """Adds the value; nulls are left out."""
        return _calling(self._spark, self._accumulator, "add", value, result="id")

    @property
    def sum(self) -> int:
        total: int = self._accumulator.sum()
        return total

    @property
    def count(self) -> int:
        values: int = self._accumulator.count()
        return values


class Gathered:
    """The values themselves, in no order, since they were last taken out. Whole numbers only."""

    def __init__(self, spark: SparkSession) -> None:
        self._accumulator = _registered(spark, "CollectionAccumulator")
        self._spark = spark

    def adding(self, value: Column) -> Column:
        """Adds the value; nulls are left out."""
        return _calling(self._spark, self._accumulator, "add", value, result="id")

    def taken(self) -> list[int]:
        """Takes out what has come. What comes at this very moment may be lost: it is a sample."""
        there = self._accumulator.value()
        self._accumulator.reset()  # `there` is a copy
        values: list[int] = []
        count: int = there.size()
        for first in range(0, count, VALUES_IN_A_CALL):
            values += json.loads(there.subList(first, min(first + VALUES_IN_A_CALL, count)).toString())
        return values


class Remembered:
    """A number that each task remembers for itself from one place in its generated code to another.

    At first it is what the driver had set when the task was sent off.
    """

    def __init__(self, spark: SparkSession, value: int = 0) -> None:
        jvm: Any = spark.sparkContext._jvm
        # A date is what the JVM has of plain objects with a long that can be set, and that are sent along with tasks.
        self._number = jvm.java.util.Date(value)
        self._spark = spark

    def set(self, value: int) -> None:
        """For tasks that are sent off from now on. The code that they run stays as it was compiled."""
        self._number.setTime(value)

    def setting(self, value: Column) -> Column:
        """Remembers the value; nulls leave it as it was."""
        return _calling(self._spark, self._number, "setTime", value, result="getTime")

    @property
    def value(self) -> Column:
        return _result(self._spark, _object(self._spark, self._number), "getTime")


def worked_out(frame: DataFrame, since: DataFrame) -> Column:
    """A condition that always holds, and for which all columns have to be there that `since` did not have yet.

    Generated code puts off what is deterministic until it is needed: the work of an operator that only selects would
    be done behind whatever is put behind the operator. Columns that it only passes through are left alone: those that
    are not needed any more are not carried along for this.
    """
    jvm: Any = frame.sparkSession.sparkContext._jvm
    before, after = (each._jdf.queryExecution().analyzed().outputSet() for each in (since, frame))
    made = getattr(after, "$minus$minus")(before).toSeq()
    more_than_there_are = jvm.org.apache.spark.sql.catalyst.expressions.AtLeastNNonNulls(made.size() + 1, made)
    return ~column_of(jvm, more_than_there_are)


def _registered(spark: SparkSession, kind: str) -> Any:
    context: Any = spark.sparkContext
    accumulator = getattr(context._jvm.org.apache.spark.util, kind)()
    context._jsc.sc().register(accumulator)  # without a name: those with one are sent to every listener
    return accumulator


def _calling(spark: SparkSession, called: Any, method: str, value: Column, result: str) -> Column:
    """Calls the method with the value. What the object returns then is never -1, which the optimiser does not know."""
    jvm: Any = spark.sparkContext._jvm
    # "Initialise a bean" means: call these methods of an object, each with its value, unless that is null.
    calls = jvm.scala.collection.immutable.Map.Map1(method, expression_of(jvm, value))
    bean = jvm.org.apache.spark.sql.catalyst.expressions.objects.InitializeJavaBean(_object(spark, called), calls)
    return _result(spark, bean, result) != -1


def _object(spark: SparkSession, known: Any) -> Any:
    jvm: Any = spark.sparkContext._jvm
    kind = jvm.org.apache.spark.sql.types.ObjectType(known.getClass())
    return jvm.org.apache.spark.sql.catalyst.expressions.Literal(known, kind)


def _result(spark: SparkSession, called: Any, method: str) -> Column:
    """The whole number that a method without arguments returns."""
    jvm: Any = spark.sparkContext._jvm
    nothing = scala_object(jvm.scala.collection.immutable, "Nil")
    call = jvm.org.apache.spark.sql.catalyst.expressions.objects.Invoke(
        called,
        method,
        scala_object(jvm.org.apache.spark.sql.types, "LongType"),
        nothing,  # arguments
        nothing,  # their types
        False,  # null if an argument is
        False,  # may return null
        False,  # deterministic
    )
    return column_of(jvm, call)
