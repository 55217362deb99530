"""PSPS' load-balancing grouping on Spark: in front of each operator it is said which replica gets a record.

Spark sends a record to the partition that the hash of its key names. So a replica is named by a number whose hash leads
to it, and whatever is in front of an operator puts that number into a column, by which the operator is keyed.

Algorithm 1 sends event by event; records of a batch are sent together. How many of the next interval's events each
replica would get by the algorithm is worked out once in an interval, and the records are divided in that proportion.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import count

import numpy as np
from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

from penstock.model import Cycle, Plan
from penstock.papers.psps.spark.hashed import murmur3
from penstock.performance.grouping import send_each, utilisation

PARTS = 1 << 20
"""A record's hash falls into one of so many parts, which the replicas divide among each other."""


def column_of(operator: str) -> str:
    """The column by which an operator is keyed."""
    return f"to_{operator}"


@dataclass
class ReplicaGrouping:
    """The shares of all replicas, which a job reads with every batch and a loop changes with every interval.

    execution_ms  et of each operator
    td            the interval, in seconds
    """

    execution_ms: Mapping[str, float]
    td: float
    _shares: dict[str, tuple[float, ...]] = field(default_factory=dict)

    def begin(self, plan: Plan) -> None:
        """Nothing has been processed yet: all replicas of an operator are alike."""
        self._shares = {name: (1.0 / plan[name],) * plan[name] for name in self.execution_ms}

    def on_cycle(self, cycle: Cycle) -> None:
        """Divide the events of the next interval, for the plan that was decided on."""
        expected = cycle.decision.figures.get("to_process", {})
        plan = cycle.decision.plan if cycle.changed else cycle.before
        shares = {}
        for name in self.execution_ms:
            done = sum((s.operators[name].records_in or 0.0 for s in cycle.samples if name in s.operators), start=0.0)
            shares[name] = self._divided(name, plan[name], done, round(expected.get(name, done)))
        self._shares = shares  # at once: a batch reads them meanwhile

    def _divided(self, name: str, replicas: int, done: float, expected: int) -> tuple[float, ...]:
        """The shares that Algorithm 1 comes to: a replica has had what it processed in the last interval (5)."""
        et = self.execution_ms[name] / 1e3
        had = [utilisation(share * done, et, self.td) for share in self.shares(name)[:replicas]]
        before = np.array(had + [0.0] * (replicas - len(had)))
        counts, _ = send_each(before, et / self.td, max(expected, replicas))
        return tuple((counts / counts.sum()).tolist())

    def shares(self, operator: str) -> tuple[float, ...]:
        return self._shares.get(operator, (1.0,))

    def replica(self, operator: str, record: Column) -> Column:
        """The column that names the replica of an operator; `record` tells records apart."""
        shares = self.shares(operator)
        names = names_of_partitions(len(shares))
        part = F.pmod(F.xxhash64(record, F.lit(operator)), F.lit(PARTS))
        chosen = F.lit(names[-1])
        for name, end in reversed(list(zip(names, np.cumsum(shares).tolist(), strict=True))[:-1]):
            chosen = F.when(part < round(end * PARTS), F.lit(name)).otherwise(chosen)
        return chosen.cast("long").alias(column_of(operator))


@cache
def names_of_partitions(partitions: int) -> tuple[int, ...]:
    """A number for each partition, whose hash leads there when records are divided into so many by it.

    >>> [murmur3(name) % 3 for name in names_of_partitions(3)]
    [0, 1, 2]
    """
    first: dict[int, int] = {}
    for number in count():
        first.setdefault(murmur3(number) % partitions, number)
        if len(first) == partitions:
            break
    return tuple(first[place] for place in range(partitions))
