"""The offsets at which a running query stops to pass records: it learns them while it runs, from properties of its JVM.

Its plan is fixed when it starts, and a hand-over is decided later. So the stage that reads Kafka asks its JVM for each
record whether there is a cut, and only where there is one, for the offset. Both are calls inside the generated code, as
those of `jvm_clock` are. Where nothing is known, everything passes: rather twice than never.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Mapping
from typing import Any

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from penstock.spark.measure.jvm_clock import scala_object, static_call
from penstock.spark.realtime.checkpoint import PartitionOffsets
from penstock.spark.realtime.generations import MOST_OFFSET

ROUNDS = 20
"""So many small jobs are tried to reach every executor: a task goes where a slot is free."""


class Cut:
    """The cut of one run of a query. Each run has names of its own: what was told to an earlier one means nothing."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._name = f"penstock.cut.{uuid.uuid4().hex}"

    def passes(self) -> Column:
        """Whether a record of Kafka lies before the cut, or nobody has told one."""
        jvm: Any = self._spark.sparkContext._jvm
        types, bridge = jvm.org.apache.spark.sql.types, jvm.org.apache.spark.sql.classic.ExpressionUtils
        text = types.ObjectType(jvm.java.lang.Class.forName("java.lang.String"))
        expressions = jvm.org.apache.spark.sql.catalyst.expressions
        nothing = scala_object(jvm.scala.collection.immutable, "Nil")
        there = static_call(
            jvm, "java.lang.Boolean", "getBoolean", scala_object(types, "BooleanType"),
            expressions.Literal(self._name, text),
        )  # fmt: skip
        place = F.concat(F.lit(f"{self._name}."), "topic", F.lit("-"), F.col("partition").cast("string"))
        name = expressions.objects.Invoke(
            bridge.expression(place._jc), "toString", text, nothing, nothing, True, True, True
        )  # fmt: skip
        # Of the two overloads the one with an object as its second argument: it returns that where nothing is known.
        limit = static_call(
            jvm, "java.lang.Long", "getLong", scala_object(types, "LongType"),
            name, expressions.Literal(MOST_OFFSET, scala_object(types, "LongType")),
        )  # fmt: skip
        return ~Column(bridge.column(there)) | (F.col("offset") < Column(bridge.column(limit)))

    def properties(self, offsets: PartitionOffsets) -> dict[str, str]:
        """What the JVMs that read have to be told; that there is a cut comes last."""
        return {
            **{
                f"{self._name}.{topic}-{partition}": str(offset)
                for topic, partitions in offsets.items()
                for partition, offset in partitions.items()
            },
            self._name: "true",
        }


def from_offsets(offsets: PartitionOffsets) -> Column:
    """Whether a record of Kafka lies at these offsets or beyond; records of other partitions always do."""
    passes = F.lit(True)
    for topic, partitions in offsets.items():
        numbers = range(max(map(int, partitions), default=-1) + 1)
        lowest = F.array(*(F.lit(partitions.get(str(number), 0)).cast("long") for number in numbers))
        is_beyond = F.col("offset") >= F.coalesce(F.get(lowest, "partition"), F.lit(0))
        passes = F.when(F.col("topic") == topic, is_beyond).otherwise(passes)
    return passes


def tell(spark: SparkSession, properties: Mapping[str, str], free: Callable[[], int]) -> int:
    """Set properties of every JVM that runs tasks; returns how many executors could not be reached.

    It takes as many slots as are free and no more: a task that waited would take that of a query whose batch ends just
    then, and the query would fail. So an executor all of whose slots are taken cannot be reached.
    """
    context: Any = spark.sparkContext
    if context._jsc.sc().isLocal():
        for name, value in properties.items():
            context._jvm.java.lang.System.setProperty(name, value)
        return 0
    reached: set[tuple[str, str]] = set()
    for _ in range(ROUNDS):
        if len(reached) < len(executors(spark)) and (tasks := free()) > 0:
            reached |= _reached(spark, properties, tasks)
    return max(0, len(executors(spark)) - len(reached))


def forget(spark: SparkSession, properties: Collection[str]) -> None:
    """Clear properties again where that is easy. Nobody asks for them any more."""
    context: Any = spark.sparkContext
    if context._jsc.sc().isLocal():
        for name in properties:
            context._jvm.java.lang.System.clearProperty(name)


def executors(spark: SparkSession) -> set[str]:
    """The executors that there are, by id; none in local mode, where the driver runs all tasks."""
    known = spark.sparkContext._jsc.sc().statusStore().executorList(True)
    ids = {known.apply(i).id() for i in range(known.size())}
    return ids - {"driver"}


def _reached(spark: SparkSession, properties: Mapping[str, str], tasks: int) -> set[tuple[str, str]]:
    """The JVMs that some tasks have come to, by machine and process: their properties are set now."""
    machine = F.reflect(F.lit("java.net.InetAddress"), F.lit("getLocalHost"))
    process = F.reflect(F.lit("java.lang.ProcessHandle"), F.lit("current"))
    setting = [
        F.reflect(F.lit("java.lang.System"), F.lit("setProperty"), F.lit(name), F.concat(F.lit(value), _empty()))
        for name, value in properties.items()
    ]
    pause = F.reflect(F.lit("java.lang.Thread"), F.lit("sleep"), F.lit(5) + F.col("id") * 0)
    frame = spark.range(0, tasks, 1, tasks).select(machine.alias("machine"), process.alias("process"), *setting, pause)
    return {(row["machine"], row["process"]) for row in frame.collect()}


def _empty() -> Column:
    """A text of no length that the optimiser does not know: the property is set in the task."""
    return F.substring(F.col("id").cast("string"), 1, 0)
