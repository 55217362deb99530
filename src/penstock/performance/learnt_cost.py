"""Learns what batches cost, one after the other.

Batches are remembered (`batch_memory`) and a cost is fitted to them (`batch_cost`). Where their costs change (`cusum`),
the earlier ones are forgotten.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from penstock.model import Batch
from penstock.performance.batch_cost import CostEstimate, fit
from penstock.performance.batch_memory import BatchMemory
from penstock.performance.cusum import Cusum


class LearntCost:
    """`estimate` is what batches cost, as far as they tell; None until one was measured."""

    def __init__(self) -> None:
        self.estimate: CostEstimate | None = None
        self._memory = BatchMemory()
        self._cusum = Cusum()

    def learn(self, batches: Sequence[Batch], t: float) -> None:
        """Take in the batches of a window that ended at `t`, oldest first."""
        known = self.estimate
        for batch in batches:
            self._memory.add(batch, t)
            if lasted := self._cusum.add(known.miss(batch)) if known is not None else 0:
                self._memory.keep_only(lasted)
                known = fit(self._memory.batches())
        self.estimate = fit(self._memory.batches())

    def state(self) -> dict[str, Any]:
        """What is known, as plain JSON values."""
        return {"memory": self._memory.state(), "cusum": self._cusum.state()}

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> LearntCost:
        learnt = cls()
        learnt._memory, learnt._cusum = BatchMemory.restored(state["memory"]), Cusum.restored(state["cusum"])
        batches = learnt._memory.batches()
        learnt.estimate = fit(batches) if batches else None
        return learnt
