"""The executors of one application, shared by its queries.

Each query is steered by a loop of its own, which says how many slots the query needs. The application has executors
for the sum. What a query needs is not known before its first decision: until then nobody shrinks the application.
"""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass

from penstock.model import Operator, Plan, Topology
from penstock.spark.executors.bounds import Bounds
from penstock.spark.executors.executor_slots import ExecutorSlots
from penstock.spark.measure.query_monitor import JOB


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """What one query may have of the executors of its application.

    slots_each   slots of one executor
    least, most  the fewest and the most executors that the application may have
    others       slots that its other queries need
    kept         executors that stay in any case, as the need of another query is not known

    >>> share = Share(slots_each=2, least=1, most=5, others=3)
    >>> share.executors(2), str(share.plan(3))
    (3, 'job 3; 3 executors')
    """

    slots_each: int
    least: int
    most: int
    others: int = 0
    kept: int = 0

    def executors(self, slots: int) -> int:
        """The executors of the application when this query has so many slots."""
        wanted = math.ceil((self.others + slots) / self.slots_each)
        return min(max(wanted, self.least, self.kept), self.most)

    def plan(self, executors: int) -> Plan:
        """The plan of this query when the application has so many executors: the slots that the others leave it."""
        return Plan({JOB: max(1, executors * self.slots_each - self.others)}, executors)

    @property
    def topology(self) -> Topology:
        return Topology((Operator(JOB, min=1, max=self.most * self.slots_each),))


class SharedSlots:
    """Adds up what the queries need, and brings the executors to a number.

    lock        held for a cycle of a query, from what the others need to the change that follows from it
    settled_at  when the last change of executors was over
    """

    def __init__(self, slots: ExecutorSlots, bounds: Bounds) -> None:
        self.slots = slots
        self._bounds = bounds
        self.lock = threading.Lock()
        self.settled_at = 0.0
        self._needs: dict[str, int | None] = {}  # by the run of a query

    def join(self, run: str) -> None:
        """Add a query whose need is not known yet."""
        self._needs[run] = None

    def leave(self, run: str) -> None:
        """Forget a query that has ended. The next decision of another one gives back what it had."""
        self._needs.pop(run, None)

    def need(self, run: str, slots: int) -> None:
        """Say what a query needs; nothing for one that has left."""
        if run in self._needs:
            self._needs[run] = slots

    def share(self, run: str) -> Share:
        others = [need for other, need in self._needs.copy().items() if other != run]
        return Share(
            slots_each=self.slots.slots_each,
            least=self._bounds.fewest,
            most=self._bounds.most,
            others=sum(need for need in others if need is not None),
            kept=self.in_force() if None in others else 0,
        )

    def in_force(self) -> int:
        """The executors that were last requested. A lost one is no change: the cluster manager replaces it."""
        return self.slots.requested or max(1, self.slots.executors())

    def change(self, executors: int) -> None:
        """Bring the application to this number. What the cluster gives is kept, even if it is less than was requested:
        a job that falls behind is better served by some executors than by none."""
        slots = executors * self.slots.slots_each
        (self.slots.require if executors > self.slots.executors() else self.slots.give_back)(slots)
