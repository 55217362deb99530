"""A key-value store that answers so many requests a second, whoever asks, as Redis behind the Yahoo benchmark.

It lives in the JVM of a local Spark, where instances are threads and all ask the same store. The properties of the
system are the one place there that every task can reach and that holds any object.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession

from penstock.spark.internals import column_of
from penstock.spark.measure.jvm_clock import scala_object
from penstock.testbed.service import Function

LIMITER = "com.google.common.util.concurrent.RateLimiter"


def asking(name: str, rate: float) -> Function:
    """An operator that makes a request to the store of that name for each record, and lets it pass when answered."""

    def ask(frame: DataFrame) -> DataFrame:
        return frame.where(_seconds_waited(frame.sparkSession, name, rate) >= 0)

    return ask


def _seconds_waited(spark: SparkSession, name: str, rate: float) -> Column:
    """The column `System.getProperties().get(store).acquire()`, which is evaluated for each record."""
    jvm: Any = spark.sparkContext._jvm
    store = f"penstock.store.{name}.{rate:g}"
    limiter = jvm.com.google.common.util.concurrent.RateLimiter.create(float(rate))
    jvm.java.lang.System.getProperties().putIfAbsent(store, limiter)  # a frame is built for every batch, a store once

    expressions = jvm.org.apache.spark.sql.catalyst.expressions
    nothing = scala_object(jvm.scala.collection.immutable, "Nil")
    anew = (False, False, False)  # null if an argument is, may return null, deterministic

    def instance_of(name: str) -> Any:
        return jvm.org.apache.spark.sql.types.ObjectType(jvm.java.lang.Class.forName(name))

    def several(*values: Any) -> Any:
        return jvm.PythonUtils.toSeq(list(values))

    properties = expressions.objects.StaticInvoke(
        jvm.java.lang.Class.forName("java.lang.System"), instance_of("java.util.Properties"), "getProperties",
        nothing, nothing, *anew, scala_object(jvm.scala, "None"),
    )  # fmt: skip
    found = expressions.objects.Invoke(
        properties, "get", instance_of(LIMITER), several(expressions.Literal.fromObject(store)),
        several(instance_of("java.lang.Object")), *anew,
    )  # fmt: skip
    double = scala_object(jvm.org.apache.spark.sql.types, "DoubleType")
    acquired = expressions.objects.Invoke(found, "acquire", double, nothing, nothing, *anew)
    return column_of(jvm, acquired)
