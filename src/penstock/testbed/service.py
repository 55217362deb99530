"""Operators with a given service time: they wait for each record, like one that calls another system.

As waiting takes no CPU, many instances run on few cores, each with its full service time.
"""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import DataFrame

from penstock.spark.measure.stamp import CREATED, STAMP

Function = Callable[[DataFrame], DataFrame]


def waiting(milliseconds: int, number: str = f"coalesce(unix_micros({STAMP}.{CREATED}), 0)") -> Function:
    """An operator that waits this long for each record and passes it on; 0 waits not at all.

    `number` is some number of the record: Spark would evaluate a wait that depends on no column only once for all.
    """
    if not milliseconds:
        return lambda frame: frame
    length = f"cast({milliseconds} + 0 * {number} as bigint)"
    return lambda frame: frame.where(f"reflect('java.lang.Thread', 'sleep', {length}) = 'null'")


def takes(milliseconds: int, function: Function) -> Function:
    """`function`, after a wait for each record of its input, also for those that it drops."""
    return lambda frame: function(waiting(milliseconds)(frame))
