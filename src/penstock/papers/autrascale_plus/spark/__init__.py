"""Table IV and Fig. 11 on Spark, with AuTraScale's WordCount."""

from __future__ import annotations

from penstock.papers.autrascale_plus.spark import fig11, table4

EXPERIMENTS = {"table4": table4.table_4, "fig11": fig11.fig_11}
