"""AuTraScale (2021): its case studies, throughput optimisation, elasticity tests and rate changes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from penstock.papers.autrascale.case_studies import fig_1, fig_2
from penstock.papers.autrascale.elasticity_items import elasticity_table, latency_figure, parallelism_figure
from penstock.papers.autrascale.fig5 import throughput_figure
from penstock.papers.autrascale.fig8 import fig_8
from penstock.papers.autrascale.table4 import table_4
from penstock.report.item import Item

PAPER = "AuTraScale (2021)"

ITEMS: dict[str, Callable[[], Item]] = {
    "fig1": fig_1,
    "fig2": fig_2,
    "fig5": partial(throughput_figure, "AuTraScale, Fig. 5", "autrascale"),
    "table2": partial(elasticity_table, "AuTraScale, Table II", ("wordcount",), "autrascale"),
    "table3": partial(elasticity_table, "AuTraScale, Table III", ("yahoo",), "autrascale"),
    "fig6": partial(latency_figure, "AuTraScale, Fig. 6", "autrascale"),
    "fig7": partial(parallelism_figure, "AuTraScale, Fig. 7", "autrascale"),
    "fig8": fig_8,
    "table4": table_4,
}
