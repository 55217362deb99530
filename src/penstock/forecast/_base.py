"""What every forecaster has in common: growing times, no negative rates, the error measured as it goes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from penstock.forecast import Forecaster, State
from penstock.model.errors import InvalidValueError, check_required_number


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


@dataclass
class OnlineForecaster(Forecaster):
    """The base of forecasters: one only says how it adds a measurement and how it predicts.

    Each measurement is predicted before it is added; the differences make `error`. One whose fields are not plain JSON
    values also says how its state is written and read.
    """

    error: RunningError = field(init=False, default_factory=RunningError)
    learnt_until: float | None = field(init=False, default=None)

    def learn(self, t: float, rate: float) -> None:
        check_required_number("t", t)
        check_required_number("rate", rate)
        if self.learnt_until is not None:
            if t <= self.learnt_until:
                raise InvalidValueError("t", f"must be later than {self.learnt_until:g} s, not {t:g} s")
            self.error.add(max(0.0, self._ahead(t - self.learnt_until)), rate)
        self._take(float(t), float(rate))
        self.learnt_until = float(t)

    def predict(self, seconds_ahead: float) -> float | None:
        check_required_number("seconds_ahead", seconds_ahead)
        return None if self.learnt_until is None else max(0.0, self._ahead(seconds_ahead))

    @property
    def mean_absolute_error(self) -> float | None:
        return self.error.mean_absolute

    def state(self) -> State:
        return {"learnt_until": self.learnt_until, "error": self.error.state(), "memory": self._memory()}

    def restore(self, state: State) -> None:
        self.learnt_until = state["learnt_until"]
        self.error = RunningError.restored(state["error"])
        self._remember(state["memory"])

    @abstractmethod
    def _take(self, t: float, rate: float) -> None:
        """Add a measurement; `learnt_until` is still the time of the one before."""

    @abstractmethod
    def _ahead(self, seconds: float) -> float:
        """The rate that many seconds after the last measurement; there is at least one."""

    def _memory(self) -> dict[str, Any]:
        """Everything that `_take` has changed, as plain JSON values: the fields that begin with an underscore."""
        return {each.name[1:]: getattr(self, each.name) for each in fields(self) if each.name.startswith("_")}

    def _remember(self, memory: Mapping[str, Any]) -> None:
        """Restore what `_memory` returned."""
        for name, value in memory.items():
            setattr(self, f"_{name}", value)
