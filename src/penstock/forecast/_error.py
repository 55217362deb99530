"""The error of predictions: a running average, in constant memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(slots=True)
class RunningError:
    """The mean absolute error of all predictions that were followed by a measurement.

    >>> error = RunningError()
    >>> error.add(predicted=90, measured=100)
    >>> error.add(predicted=130, measured=100)
    >>> error.mean_absolute
    20.0
    """

    count: int = 0
    absolute: float = 0.0

    def add(self, predicted: float, measured: float) -> None:
        self.count += 1
        self.absolute += (abs(predicted - measured) - self.absolute) / self.count

    @property
    def mean_absolute(self) -> float | None:
        """The mean absolute error (MAE), in the unit of what is predicted."""
        return self.absolute if self.count else None

    def state(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> RunningError:
        return cls(state["count"], state["absolute"])  # states of earlier versions hold other averages as well
