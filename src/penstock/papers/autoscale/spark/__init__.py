"""AUTOSCALE's topologies on Spark, its Fig. 9, 10 and 12 there, and the job of Fig. 12 under the stream of Fig. 10."""

from __future__ import annotations

from penstock.papers.autoscale.spark import fig9, graphs, linear, others

JOBS = (*graphs.JOBS, *linear.JOBS, others.PEAKS)
EXPERIMENTS = {
    "fig9": fig9.fig_9,
    "fig10": others.fig_10,
    "fig12": others.fig_12,
    "fig12_peaks": others.fig_12_peaks,
}
