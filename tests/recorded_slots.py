"""A supplier of slots that writes down what it is asked for, and an engine that does nothing but that."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from penstock.model import Actuation, Execution, Plan, Sample, Topology
from penstock.spark.engine import SparkEngine
from penstock.spark.executors.slots import Holders, NotEnoughSlotsError, SlotSupplier

SLOTS_EACH = 4


class RecordedSlots(SlotSupplier):
    """Executors of four slots, as many as are asked for, up to `most`; the cluster has no more than `available`."""

    def __init__(self, most: int | None = 3, available: int = 100) -> None:
        self.most = most
        self.available = available
        self.there = 0
        self.calls: list[tuple[str, int]] = []
        self.breaks = False

    def slots(self) -> int:
        return SLOTS_EACH * self.there

    def executors(self) -> int | None:
        return self.there

    def most_slots(self) -> int:
        return SLOTS_EACH * (self.available if self.most is None else self.most)

    def executors_for(self, slots: int) -> int | None:
        return None if self.most is None else min(max(1, -(-slots // SLOTS_EACH)), self.most)

    def slots_for(self, slots: int) -> int:
        return SLOTS_EACH * (self.executors_for(slots) or 0)

    def require(self, slots: int, ahead: int = 0) -> None:
        self.calls.append(("require", slots))
        self.there = max(self.there, min(-(-slots // SLOTS_EACH), self.available))
        if slots > self.slots():
            raise NotEnoughSlotsError(slots, self.slots(), "no worker is free")

    def give_back(self, slots: int, holders: Holders = tuple) -> None:
        self.calls.append(("give_back", slots))
        if self.breaks:
            raise OSError("nobody listens")
        self.there = min(self.there, max(1, -(-slots // SLOTS_EACH)))

    def cancel(self) -> None:
        self.calls.append(("cancel", 0))


class RecordedEngine(SparkEngine):
    """Writes down its starts and changes among the calls of its slots."""

    execution: ClassVar[Execution] = Execution.CONCURRENT
    actuation: ClassVar[Actuation] = Actuation.LIVE

    def __init__(self, topology: Topology, slots: RecordedSlots) -> None:
        super().__init__(topology, slots)
        self.calls = slots.calls
        self.fails = False
        self.checkpoint: Path | None = None

    @property
    def local_checkpoint(self) -> Path | None:
        return self.checkpoint

    def _start(self, plan: Plan) -> None:
        self.calls.append(("start", plan.total))
        self._put_in_force(plan)

    def _change(self, plan: Plan) -> None:
        self.calls.append(("change", plan.total))
        self._put_in_force(plan)

    def _put_in_force(self, plan: Plan) -> None:
        if self.fails:
            raise OSError("no cluster")
        self._plan = plan

    def stop(self) -> None:
        self.calls.append(("stop", 0))

    def wait(self, seconds: float | None = None) -> bool:
        return True

    def read(self) -> Sequence[Sample]:
        return []
