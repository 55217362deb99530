"""Dp-Stream's WordCount and Top-N on Spark, and its Fig. 2 and 3 there."""

from penstock.papers.dp_stream.spark.fig2 import EXPERIMENTS
from penstock.papers.dp_stream.spark.jobs import JOBS

__all__ = ["EXPERIMENTS", "JOBS"]
