"""AUTOSCALE's topologies on Spark, and its Fig. 9 there."""

from __future__ import annotations

from penstock.papers.autoscale.spark import fig9, graphs, linear
from penstock.papers.autoscale.workloads import LINEAR_PEAKS
from penstock.runs.spark_workload import under_load

JOBS = (*graphs.JOBS, *linear.JOBS, under_load(LINEAR_PEAKS, linear.JOBS[0], 90.0))
EXPERIMENTS = {"fig9": fig9.fig_9}
