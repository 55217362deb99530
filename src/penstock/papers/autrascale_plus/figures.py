"""AuTraScale+ (2024): what the first paper shows, the lightweight transfer, and event latency."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from penstock.papers.autrascale.elasticity_items import elasticity_table, latency_figure, parallelism_figure
from penstock.papers.autrascale.fig5 import throughput_figure
from penstock.papers.autrascale_plus.case_studies import fig_4, fig_5
from penstock.papers.autrascale_plus.fig10 import fig_10
from penstock.papers.autrascale_plus.fig11 import fig_11
from penstock.papers.autrascale_plus.table6 import table_6
from penstock.report.item import Item

PAPER = "AuTraScale+ (2024)"

ITEMS: dict[str, Callable[[], Item]] = {
    "fig4": fig_4,
    "fig5": fig_5,
    "fig7": partial(throughput_figure, "AuTraScale+, Fig. 7", "autrascale_plus"),
    "table4": partial(elasticity_table, "AuTraScale+, Table IV", ("wordcount", "yahoo"), "autrascale_plus"),
    "fig8": partial(latency_figure, "AuTraScale+, Fig. 8", "autrascale_plus"),
    "fig9": partial(parallelism_figure, "AuTraScale+, Fig. 9", "autrascale_plus"),
    "fig10": fig_10,
    "fig11": fig_11,
    "table6": table_6,
}
