"""WordCount and the Yahoo benchmark on Spark, and Fig. 5 there."""

from __future__ import annotations

from penstock.papers.autrascale.spark import fig5, wordcount, yahoo

JOBS = (*wordcount.JOBS, *yahoo.JOBS)
EXPERIMENTS = {"fig5": fig5.fig_5}
