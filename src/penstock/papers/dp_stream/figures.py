"""Dp-Stream (2022): how well its network predicts the rate, and what scheduling ahead does to latency."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from penstock.papers.dp_stream.fig2 import latency_figure
from penstock.papers.dp_stream.table3 import table_3
from penstock.report.item import Item

PAPER = "Dp-Stream (2022)"

ITEMS: dict[str, Callable[[], Item]] = {
    "table3": table_3,
    "fig2": partial(latency_figure, 2, "dp_wordcount", 2.27, 4.66),
    "fig3": partial(latency_figure, 3, "dp_top_n", 2.40, 4.84),
}
