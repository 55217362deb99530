"""Predicts load. Each forecaster measures its own error as it goes."""

from __future__ import annotations

from typing import ClassVar, Protocol

from penstock.model.catalog import Catalog


class Forecaster(Protocol):
    """Learns a rate over time and predicts it ahead; deterministic for what it was told."""

    name: ClassVar[str]
    source: ClassVar[str] = ""

    def learn(self, t: float, rate: float) -> None:
        """Take the rate measured at `t` seconds; times only grow."""

    def predict(self, seconds_ahead: float) -> float | None:
        """The rate that many seconds after the last one learnt, never negative; None before the first."""


FORECASTERS: Catalog[Forecaster] = Catalog("forecaster", __name__)
