"""PSPS (2022): its worked examples, its parameters, and its comparison with Storm and DABS-Storm."""

from __future__ import annotations

from collections.abc import Callable

from penstock.papers.psps.examples import fig_3, fig_5, table_2
from penstock.papers.psps.other_streams import fig_14, table_9, table_11, table_12
from penstock.papers.psps.parameters import table_4, table_5, table_6, table_7
from penstock.papers.psps.table8 import fig_8, fig_9, table_8
from penstock.papers.psps.table10 import fig_10, fig_11, table_10
from penstock.report.item import Item

PAPER = "PSPS (2022)"

ITEMS: dict[str, Callable[[], Item]] = {
    "table2": table_2,
    "fig3": fig_3,
    "fig5": fig_5,
    "table4": table_4,
    "table5": table_5,
    "table6": table_6,
    "table7": table_7,
    "table8": table_8,
    "fig8": fig_8,
    "fig9": fig_9,
    "table9": table_9,
    "table10": table_10,
    "fig10": fig_10,
    "fig11": fig_11,
    "table11": table_11,
    "table12": table_12,
    "fig14": fig_14,
}
