"""The executors of an application over time, and what they cost: cores times the seconds that they were there."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from penstock.advise.series import Series

ONE_CHANGE_SECONDS = 10.0
"""Executors that come or go within this time of each other are one change."""


@dataclass
class CoreTime:
    """Executors as they come and go. Times may be told only in their order.

    cores    those of all executors that are there
    changes  how often executors came or went after the first ones had come
    """

    cores: int = 0
    changes: int = 0
    _alive: dict[str, int] = field(default_factory=dict)
    _kinds: Counter[int] = field(default_factory=Counter)
    _core_seconds: float = 0.0
    _t: float | None = None
    _changed: float | None = None
    _series: Series | None = None

    def add(self, t: float, executor: str, cores: int) -> None:
        self._change(t)
        self._alive[executor] = cores
        self._kinds[cores] += 1
        self.cores = sum(self._alive.values())

    def remove(self, t: float, executor: str) -> None:
        """Spark may tell twice that an executor has gone."""
        if executor in self._alive:
            self._change(t)
            del self._alive[executor]
            self.cores = sum(self._alive.values())

    def until(self, t: float) -> float:
        """The core-seconds from the beginning to a time."""
        if self._t is None:
            self._t, self._series = t, Series(t)
        if t > self._t:
            assert self._series is not None
            self._core_seconds += self.cores * (t - self._t)
            self._series.add(self._t, t, self.cores * (t - self._t))
            self._t = t
        return self._core_seconds

    @property
    def executors(self) -> int:
        """How many there are; 0 where the driver runs the tasks."""
        return 0 if self.local else len(self._alive)

    @property
    def series(self) -> Series:
        """Core-seconds over time."""
        return self._series or Series(0.0)

    @property
    def cores_each(self) -> int:
        """The cores of an executor; of most of them, if they differ."""
        return self._kinds.most_common(1)[0][0] if self._kinds else 1

    @property
    def local(self) -> bool:
        """Whether the driver itself runs the tasks: there are no executors that could be given back."""
        return set(self._alive) == {"driver"}

    def _change(self, t: float) -> None:
        self.until(t)
        if self._changed is not None and t - self._changed > ONE_CHANGE_SECONDS:
            self.changes += 1
        self._changed = t
