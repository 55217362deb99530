"""Dp-Stream (2022): how well its network predicts the rate, and what scheduling ahead does to latency."""

from __future__ import annotations

from collections.abc import Callable

from penstock.papers.dp_stream.fig2 import fig_2, fig_3
from penstock.papers.dp_stream.table3 import table_3
from penstock.report.item import Item

PAPER = "Dp-Stream (2022)"

ITEMS: dict[str, Callable[[], Item]] = {"table3": table_3, "fig2": fig_2, "fig3": fig_3}
