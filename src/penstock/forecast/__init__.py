"""Predicts load. Each forecaster measures its own error as it goes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol

from penstock.model.catalog import Catalog

State = Mapping[str, Any]
"""What a forecaster knows, as plain JSON values."""


class Forecaster(Protocol):
    """Learns a rate over time and predicts it ahead; deterministic for what it was told.

    What `state` returns, `restore` takes: a forecaster goes on exactly where it stopped.
    """

    name: ClassVar[str]
    source: ClassVar[str] = ""

    def learn(self, t: float, rate: float) -> None:
        """Take the rate measured at `t` seconds; times only grow."""

    def predict(self, seconds_ahead: float) -> float | None:
        """The rate that many seconds after the last one learnt, never negative; None before the first."""

    @property
    def mean_absolute_error(self) -> float | None:
        """How far its predictions of the next measurement have been off on average; None before the second."""

    def state(self) -> State: ...

    def restore(self, state: State) -> None: ...


FORECASTERS: Catalog[Forecaster] = Catalog("forecaster", __name__)
