"""The batches that tell what a batch costs: the newest ones, and of older ones some of every size.

A steady load makes batches that are alike, and a hundred of them pass in a minute. Those of another size, after the
start, in a surge, at night, tell the cost of records from that of batches. So a few of each size, in powers of two, are
kept for a day, in which most loads come round.
"""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Mapping
from typing import Any

from penstock.model import Batch

NEWEST = 100
"""Enough batches to follow a change that is too small to be noticed as one."""

OF_EACH_SIZE = 4
KEPT_SECONDS = 86_400.0


class BatchMemory:
    """Remembers batches, and forgets those that tell nothing new.

    >>> memory = BatchMemory()
    >>> for t in range(500):
    ...     memory.add(Batch(records=3000 if t < 2 else 300, seconds=1, useful_seconds=1, stage_seconds=1), t)
    >>> [batch.records for batch in memory.batches()][:7], len(memory.batches())
    ([3000, 3000, 300, 300, 300, 300, 300], 106)
    """

    def __init__(self) -> None:
        self._newest: deque[tuple[float, Batch]] = deque()
        self._older: defaultdict[int, deque[tuple[float, Batch]]] = defaultdict(lambda: deque(maxlen=OF_EACH_SIZE))

    def add(self, batch: Batch, t: float) -> None:
        """Remember a batch that ended by `t`, in seconds on any clock that goes forward."""
        self._newest.append((t, batch))
        if len(self._newest) > NEWEST:
            older = self._newest.popleft()
            self._older[_size(older[1])].append(older)
        for some in self._older.values():
            while some and some[0][0] < t - KEPT_SECONDS:
                some.popleft()

    def keep_only(self, newest: int) -> None:
        """Forget all but that many of the newest: the others tell of a job that has changed since."""
        self._older.clear()
        while len(self._newest) > newest:
            self._newest.popleft()

    def batches(self) -> list[Batch]:
        """What is remembered: older ones by size, then the newest."""
        older = [batch for some in self._older.values() for _, batch in some]
        return older + [batch for _, batch in self._newest]

    def state(self) -> dict[str, Any]:
        """What is remembered, as plain JSON values."""
        return {
            "newest": [_plain(each) for each in self._newest],
            "older": [[_plain(each) for each in some] for some in self._older.values() if some],
        }

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> BatchMemory:
        memory = cls()
        memory._newest.extend((t, Batch(*batch)) for t, batch in state["newest"])
        for some in state["older"]:
            for t, batch in some:
                memory._older[_size(Batch(*batch))].append((t, Batch(*batch)))
        return memory


def _plain(remembered: tuple[float, Batch]) -> list[Any]:
    t, batch = remembered
    return [t, [batch.records, batch.seconds, batch.useful_seconds, batch.stage_seconds]]


def _size(batch: Batch) -> int:
    """The power of two that its number of records is below."""
    return math.frexp(batch.records)[1]
