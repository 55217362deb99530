"""WordCount and the Yahoo benchmark on Spark, and Fig. 2, 5 and 8 there."""

from __future__ import annotations

from penstock.papers.autrascale.spark import fig2, fig5, fig8, nexmark_rescaled, wordcount, yahoo, yahoo_walk

JOBS = (*wordcount.JOBS, *yahoo.JOBS)
EXPERIMENTS = {
    "fig2": fig2.fig_2,
    "fig5": fig5.fig_5,
    "fig5b": yahoo_walk.yahoo,
    "fig8": fig8.fig_8,
    "nexmark": nexmark_rescaled.nexmark,
}
