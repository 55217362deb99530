"""A line of operators behind a spout, where events time out, with PSPS' grouping in front of each operator.

In micro-batches nothing waits behind the spout: an event that is too old fails there, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from penstock.papers.psps.spark.grouping import ReplicaGrouping, column_of
from penstock.spark import Pipeline
from penstock.spark.graph import Step
from penstock.spark.io.endpoints import Sink, Source
from penstock.testbed.service import Function

SPOUT = "spout"


def behind_a_spout(
    name: str,
    functions: Mapping[str, Function],
    timeout_seconds: float,
    grouping: ReplicaGrouping | None,
    source: Source,
    sink: Sink,
    most: int = 16,
    room: Callable[[], int] | None = None,
) -> Pipeline:
    """The operators one behind the other. With a `grouping`, whatever is in front of one says which replica gets an
    event, by the event's text at the spout and by its column `number` behind it. With `room`, which is asked with every
    batch, the spout drops the events for which their queue has none."""
    job = Pipeline(name, source=source)
    fresh = in_time(timeout_seconds)
    line = {SPOUT: fresh if room is None else _first_ones(fresh, room), **functions}
    if grouping is not None:
        for before, after in pairwise(functions):
            line[before] = _sending(functions[before], after, "number", grouping)
        line[SPOUT] = _sending(line[SPOUT], next(iter(functions)), "value", grouping)
    behind: list[Step] = []
    for operator, function in line.items():
        key = column_of(operator) if grouping and behind else ()
        behind = [job.operator(operator, function, after=behind, key=key, max=most if behind else 1)]
    job.sink(sink, after=behind[0])
    return job


def in_time(timeout_seconds: float) -> Function:
    """The spout: events that have waited for no longer than the time-out."""

    def fresh(frame: DataFrame) -> DataFrame:
        age = F.unix_micros("stamp.taken") - F.unix_micros("stamp.created")
        return frame.where(age <= round(1e6 * timeout_seconds)).select("value", "stamp")

    return fresh


def _first_ones(function: Function, room: Callable[[], int]) -> Function:
    """What a function makes of its input, up to a number that is asked for with every batch: the rest is dropped.

    The spout has one instance, so all events of a batch are in one partition, where Spark numbers them from 0.
    """

    def admitted(frame: DataFrame) -> DataFrame:
        numbered = function(frame).withColumn("place", F.monotonically_increasing_id())
        return numbered.where(F.col("place") < room()).drop("place")

    return admitted


def _sending(function: Function, operator: str, record: str, grouping: ReplicaGrouping) -> Function:
    """What a function makes of its input, with the replica of the next operator that each event goes to."""
    return lambda frame: function(frame).withColumn(column_of(operator), grouping.replica(operator, F.col(record)))
