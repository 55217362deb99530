"""What executors cost: their cores, times the seconds between Spark's events that they were added and removed.

An executor that is being decommissioned is paid for until it is gone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from py4j.protocol import Py4JError
from pyspark import SparkContext

from penstock.spark.measure.status_json import StatusJson


@dataclass(frozen=True, slots=True)
class Lifetime:
    """One executor from Spark's event that it was added to the one that it was removed; Unix seconds.

    >>> Lifetime("3", cores=2, added=100.0, removed=130.0).core_seconds(since=110.0, until=500.0)
    40.0
    """

    id: str
    cores: int
    added: float
    removed: float | None = None

    def core_seconds(self, since: float, until: float) -> float:
        """What it cost between two moments."""
        end = until if self.removed is None else min(self.removed, until)
        return self.cores * max(0.0, end - max(self.added, since))


class CoreSeconds:
    """Adds up what the executors of one application cost since a moment.

    Spark keeps the newest hundred of those that were removed: call `read` more often than that many come and go.
    """

    def __init__(self, since: float) -> None:
        self._since = self._until = since
        self._gone = 0.0  # core-seconds of executors that were removed
        self._counted: frozenset[str] = frozenset()  # those of them that Spark still lists
        self._there: dict[str, Lifetime] = {}

    def read(self, executors: Mapping[str, Lifetime], until: float) -> float:
        """The core-seconds until a moment, when Spark lists these executors now, removed ones among them."""
        for known in self._there.values():
            if known.id not in executors:  # removed, and forgotten already: it was there when Spark was last asked
                self._gone += known.core_seconds(self._since, self._until)
        removed = {each.id for each in executors.values() if each.removed is not None and each.removed <= until}
        self._gone += sum(executors[each].core_seconds(self._since, until) for each in removed - self._counted)
        self._counted = frozenset(removed)
        self._there = {each.id: each for each in executors.values() if each.id not in removed}
        self._until = until
        return self.total

    @property
    def total(self) -> float:
        """The core-seconds at the last reading."""
        return self._gone + sum(each.core_seconds(self._since, self._until) for each in self._there.values())


class ExecutorCost:
    """What the executors of one application cost since a moment. It is known even when Spark has ended."""

    def __init__(self, context: SparkContext, since: float) -> None:
        self._store: Any = context._jsc.sc().statusStore()
        self._json = StatusJson(context)
        self._sum = CoreSeconds(since)

    def core_seconds(self, until: float) -> float:
        """The core-seconds until a moment, later than that of the call before; when Spark does not answer any more,
        those until then."""
        try:
            return self._sum.read(lifetimes(self._json.read(self._store.executorList(False))), until)
        except (Py4JError, OSError):
            return self._sum.total


@dataclass(frozen=True, slots=True)
class ExecutorBill:
    """Where the cost of executors comes from.

    core_seconds  what they have cost until a moment, by Spark's events
    cores_each    cores of one
    most          the most that the job may have; None where nothing limits them
    """

    core_seconds: Callable[[float], float]
    cores_each: int
    most: int | None


def lifetimes(listed: list[dict[str, Any]]) -> dict[str, Lifetime]:
    """The executors in Spark's list of them; the driver is none.

    >>> entry = {"id": "0", "totalCores": 2, "addTime": 5000, "removeTime": 9000}
    >>> lifetimes([entry, {"id": "driver", "totalCores": 0, "addTime": 1000, "removeTime": None}])
    {'0': Lifetime(id='0', cores=2, added=5.0, removed=9.0)}
    """
    return {
        each["id"]: Lifetime(
            each["id"],
            each["totalCores"],
            each["addTime"] / 1e3,
            None if each["removeTime"] is None else each["removeTime"] / 1e3,
        )
        for each in listed
        if each["id"] != "driver"
    }
