"""AUTOSCALE (2017): Storm's default scheduler against AUTOSCALE, from minimal and from expert degrees."""

from __future__ import annotations

from collections.abc import Callable

from penstock.papers.autoscale.consistency import consistency
from penstock.papers.autoscale.fig9 import fig_9
from penstock.papers.autoscale.fig10 import fig_10
from penstock.papers.autoscale.fig12 import fig_12
from penstock.report.item import Item

PAPER = "AUTOSCALE (2017)"

ITEMS: dict[str, Callable[[], Item]] = {"fig9": fig_9, "fig10": fig_10, "fig12": fig_12, "consistency": consistency}
