"""The error of predictions: running averages, in constant memory."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(slots=True)
class RunningError:
    """Averages over all predictions that were followed by a measurement.

    >>> error = RunningError()
    >>> error.add(predicted=90, measured=100)
    >>> error.add(predicted=130, measured=100)
    >>> error.mean_absolute, round(error.root_mean_square, 3), error.mean_relative
    (20.0, 22.361, 0.2)
    """

    count: int = 0
    absolute: float = 0.0
    square: float = 0.0
    relative_count: int = 0
    relative: float = 0.0

    def add(self, predicted: float, measured: float) -> None:
        off = abs(predicted - measured)
        self.count += 1
        self.absolute += (off - self.absolute) / self.count
        self.square += (off * off - self.square) / self.count
        share = off / measured if measured > 0 else math.inf
        if share < math.inf:  # relative to 0, or nearly 0, an error has no meaning
            self.relative_count += 1
            self.relative += (share - self.relative) / self.relative_count

    @property
    def mean_absolute(self) -> float | None:
        """The mean absolute error (MAE), in the unit of what is predicted."""
        return self.absolute if self.count else None

    @property
    def root_mean_square(self) -> float | None:
        """The root mean square error (RMSE), in the unit of what is predicted: large errors weigh more."""
        return math.sqrt(self.square) if self.count else None

    @property
    def mean_relative(self) -> float | None:
        """The mean relative error (MRE), as a share of what was measured."""
        return self.relative if self.relative_count else None

    def state(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> RunningError:
        return cls(**state)
