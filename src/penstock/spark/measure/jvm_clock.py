"""The clocks of the JVM as columns, read anew for every record.

Spark's own `current_timestamp()` is one value for a whole batch, which in real time lasts seconds. `reflect(...)`
would do, but is interpreted and breaks the generated code in two: with it four cheap operators lose a tenth of their
throughput. A static call inside the generated code costs some 25 ns. It is declared not to be deterministic, so the
optimiser neither folds nor moves it, and leaves on either side of it what stands there.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from penstock.spark.internals import column_of
from penstock.spark.versions import CATALOGUE_FUNCTIONS, has


def nanoseconds(spark: SparkSession) -> Column:
    """For differences within one task; its zero is anywhere."""
    return _long_of_system(spark, "nanoTime")


def milliseconds(spark: SparkSession) -> Column:
    """Unix time."""
    return _long_of_system(spark, "currentTimeMillis")


def now(spark: SparkSession) -> Column:
    """Unix time as a timestamp."""
    return F.timestamp_millis(milliseconds(spark))


def _long_of_system(spark: SparkSession, method: str) -> Column:
    jvm: Any = spark.sparkContext._jvm
    call = static_call(jvm, "java.lang.System", method, scala_object(jvm.org.apache.spark.sql.types, "LongType"))
    return column_of(jvm, call)


def static_call(jvm: Any, owner: str, method: str, kind: Any, *arguments: Any) -> Any:
    """The expression that calls a static method, anew for every record; `kind`: what it returns."""
    nothing = scala_object(jvm.scala.collection.immutable, "Nil")
    no_function = scala_object(jvm.scala, "None")  # of a catalogue, that it stands for
    return jvm.org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke(
        jvm.java.lang.Class.forName(owner),
        kind,
        method,
        jvm.PythonUtils.toSeq(list(arguments)) if arguments else nothing,
        nothing,  # the types of the arguments
        False,  # null if an argument is
        False,  # may return null
        False,  # deterministic
        *((no_function,) if has(CATALOGUE_FUNCTIONS) else ()),
    )


def scala_object(package: Any, name: str) -> Any:
    """The one instance of a Scala object, such as None or Nil."""
    return getattr(getattr(package, f"{name}$"), "MODULE$")
