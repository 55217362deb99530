"""Forecasters predict load. Each measures its own error as it goes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol

from penstock.model.catalog import Catalog

State = Mapping[str, Any]
"""What a forecaster knows, as plain JSON values."""


class Forecaster(Protocol):
    """Learns a rate over time and predicts it ahead; it is deterministic for what it has learnt.

    What `state` returns, `restore` takes: a forecaster goes on exactly where it stopped.
    """

    name: ClassVar[str]
    source: ClassVar[str] = ""

    def learn(self, t: float, rate: float) -> None:
        """Learn the rate measured at `t` seconds; each time must be later than the last."""

    def predict(self, seconds_ahead: float) -> float | None:
        """The rate that many seconds after the last one learnt, never negative; None before the first."""

    @property
    def mean_absolute_error(self) -> float | None:
        """The mean error of its predictions of the next measurement; None before the second measurement."""

    def state(self) -> State: ...

    def restore(self, state: State) -> None: ...


FORECASTERS: Catalog[Forecaster] = Catalog("forecaster", __name__)
