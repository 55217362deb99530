"""Plans in order of what they can carry: what a planner chooses from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from penstock.model import Topology


@dataclass(frozen=True, slots=True)
class Rung:
    """A plan and what is known of it.

    parallelism  instances of each operator
    slots        slots that it takes
    limit        the highest input rate at which every target holds, in records per second
    capacity     the highest input rate at which no queue grows without end
    error        the standard error of both, as a share of them
    known        whether the job was ever seen near this plan
    """

    parallelism: Mapping[str, int]
    slots: int
    limit: float
    capacity: float
    error: float
    known: bool

    def surely(self, errors: float) -> float:
        """The input rate at which every target holds even if the limit is lower than it seems, by so many errors."""
        return self.limit * math.exp(-errors * self.error)


def tied(parallelism: dict[str, int], topology: Topology) -> dict[str, int]:
    """The same with operators of one tie at the largest number among them, as far as each may have it.

    >>> from penstock.model import Operator
    >>> tied({"join": 2, "count": 5}, Topology((Operator("join", tie="state"), Operator("count", tie="state"))))
    {'join': 5, 'count': 5}
    """
    largest: dict[str, int] = {}
    for operator in topology.operators:
        if operator.tie is not None:
            largest[operator.tie] = max(largest.get(operator.tie, 1), parallelism[operator.name])
    if not largest:
        return parallelism
    ties = {operator.name: operator.tie for operator in topology.operators}
    return {
        name: k if (tie := ties[name]) is None else topology.clamp(name, largest[tie])
        for name, k in parallelism.items()
    }  # fmt: skip
