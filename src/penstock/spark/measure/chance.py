"""Chooses a share of the records at random: one of a given number.

Spark's own `rand` gets another seed for every batch of a stream. The seed stands in the generated code, so all stages
would be compiled anew for each batch, and the JVM would learn anew where they spend their time: with four cheap
operators a third of a second passed between two batches for it. Java's generator has no seed.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from penstock.spark.internals import column_of, expression_of
from penstock.spark.measure.jvm_clock import scala_object, static_call

GENERATOR = "java.util.concurrent.ThreadLocalRandom"


def one_in(spark: SparkSession, many: int | Column) -> Column:
    """A condition that holds for one record in `many`, a number or a column of whole ones."""
    jvm: Any = spark.sparkContext._jvm
    types = jvm.org.apache.spark.sql.types
    below = F.lit(many).cast("long")
    generator = static_call(jvm, GENERATOR, "current", types.ObjectType(jvm.java.lang.Class.forName(GENERATOR)))
    drawn = jvm.org.apache.spark.sql.catalyst.expressions.objects.Invoke(
        generator,
        "nextLong",
        scala_object(types, "LongType"),
        jvm.PythonUtils.toSeq([expression_of(jvm, below)]),
        scala_object(jvm.scala.collection.immutable, "Nil"),  # types of the arguments, if not their own
        False,  # null if an argument is
        False,  # may return null
        False,  # deterministic
    )
    return column_of(jvm, drawn) == 0


def share(records: int, wanted: int) -> int:
    """One in how many to choose, so that of so many records `wanted` and up to twice as many are chosen.

    A power of two, which Java's generator draws without a division.

    >>> share(100_000, 500), share(20, 500)
    (128, 1)
    """
    return 1 << (max(1, records // wanted).bit_length() - 1)
