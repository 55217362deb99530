"""Where an engine gets its slots from. A slot is room for one task at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from typing import Any

from pyspark.sql import SparkSession

from penstock.model import PenstockError
from penstock.spark.executors.claim import Claim
from penstock.spark.executors.core_seconds import ExecutorBill

Holders = Callable[[], Collection[str]]
"""Tells the ids of executors that hold something, such as state."""


class NotEnoughSlotsError(PenstockError):
    """A plan needs more slots than there are."""

    def __init__(self, needed: int, available: int, reason: str | None = None) -> None:
        super().__init__(needed, available, reason)
        self.needed = needed
        self.available = available
        self.reason = reason

    def __str__(self) -> str:
        why = "" if self.reason is None else f": {self.reason}"
        return f"the plan needs {self.needed} slots, but only {self.available} are available{why}"


class SlotSupplier(ABC):
    """Counts the slots of one application, and gets and releases them where that is possible."""

    @abstractmethod
    def slots(self) -> int:
        """Tasks that can run at the same time now."""

    @abstractmethod
    def executors(self) -> int | None:
        """How many executors there are; None where everything runs inside the driver."""

    @abstractmethod
    def most_slots(self) -> int:
        """The most slots that the application can ever have."""

    @abstractmethod
    def executors_for(self, slots: int) -> int | None:
        """How many executors a plan that needs as many slots gets; None where executors are not changed."""

    def slots_for(self, slots: int) -> int:
        """The slots of the executors that a plan which needs as many gets; as many where executors are not changed."""
        return slots

    @abstractmethod
    def require(self, slots: int, ahead: int = 0) -> None:
        """Return once there are as many slots; raises NotEnoughSlotsError if that cannot be.

        ahead  as many will be required next: they are requested now, and nobody waits for them yet
        """

    @abstractmethod
    def give_back(self, slots: int, holders: Holders = tuple) -> None:
        """Release what there is beyond as many slots; `holders` says which executors are the last to be released."""

    @abstractmethod
    def cancel(self) -> None:
        """End every wait for slots, now and later."""

    def leaving(self) -> int | None:
        """Executors that were released and are not gone yet; None where executors are not changed."""
        return None

    def bill(self) -> ExecutorBill | None:
        """What the executors cost from now on; None where they are not changed."""
        return None

    def claim(self, who: str) -> Claim | None:
        """The right to change the executors; None where they are not changed. Raises ClaimedError if it is taken."""
        return None


class FixedSlots(SlotSupplier):
    """The slots that the application has: never more and never fewer."""

    def __init__(self, spark: SparkSession) -> None:
        self._scala: Any = spark.sparkContext._jsc.sc()

    def slots(self) -> int:
        return sum(self._tasks().values())

    def executors(self) -> int | None:
        return None if self._scala.isLocal() else len(self._tasks())

    def most_slots(self) -> int:
        return self.slots()

    def executors_for(self, slots: int) -> int | None:
        return None

    def require(self, slots: int, ahead: int = 0) -> None:
        if slots > (there := self.slots()):
            raise NotEnoughSlotsError(slots, there)

    def give_back(self, slots: int, holders: Holders = tuple) -> None: ...

    def cancel(self) -> None: ...

    def _tasks(self) -> dict[str, int]:
        """The most tasks of each executor. In local mode the driver is the only one; elsewhere it runs none."""
        known = self._scala.statusStore().executorList(True)
        summaries = [known.apply(i) for i in range(known.size())]
        local: bool = self._scala.isLocal()
        return {each.id(): each.maxTasks() for each in summaries if local or each.id() != "driver"}
