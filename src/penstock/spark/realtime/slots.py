"""How many tasks can run at once. In real time every instance of every operator holds a slot for itself."""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession

from penstock.model import PenstockError


class NotEnoughSlotsError(PenstockError):
    """A plan needs more slots than the cluster has."""

    def __init__(self, needed: int, available: int) -> None:
        super().__init__(needed, available)
        self.needed = needed
        self.available = available

    def __str__(self) -> str:
        return f"the plan needs {self.needed} slots, but only {self.available} are available"


def available_slots(spark: SparkSession) -> int:
    """The cores of all executors; in local mode the driver is the only one."""
    context: Any = spark.sparkContext._jsc.sc()
    executors = context.statusStore().executorList(True)
    cores = {executors.apply(i).id(): executors.apply(i).totalCores() for i in range(executors.size())}
    if len(cores) > 1:
        cores.pop("driver", None)
    return sum(cores.values())
