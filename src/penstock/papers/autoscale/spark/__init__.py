"""AUTOSCALE's topologies on Spark, and its Fig. 9, 10 and 12 there."""

from __future__ import annotations

from penstock.papers.autoscale.spark import fig9, graphs, linear, others

JOBS = (*graphs.JOBS, *linear.JOBS, others.PEAKS)
EXPERIMENTS = {"fig9": fig9.fig_9, "fig10": others.fig_10, "fig12": others.fig_12}
