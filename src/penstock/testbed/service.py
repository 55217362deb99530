"""Operators that take a given time: they wait for each record, as one that asks another system does.

Many instances find room on few cores this way, and each takes the time that it says.
"""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import DataFrame

from penstock.spark.measure.stamp import CREATED, STAMP

Function = Callable[[DataFrame], DataFrame]


def waiting(milliseconds: int) -> Function:
    """An operator that waits so long for each record, and lets it pass. Nothing waits less than a millisecond."""
    if not milliseconds:
        return lambda frame: frame
    # Spark would compute a wait that no column takes part in once for all records.
    length = f"cast({milliseconds} + 0 * coalesce(unix_micros({STAMP}.{CREATED}), 0) as bigint)"
    return lambda frame: frame.where(f"reflect('java.lang.Thread', 'sleep', {length}) = 'null'")


def takes(milliseconds: int, function: Function) -> Function:
    """`function` after a wait for each record of its input, also for those that it drops."""
    return lambda frame: function(waiting(milliseconds)(frame))
