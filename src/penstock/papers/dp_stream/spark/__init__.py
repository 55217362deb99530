"""Dp-Stream's WordCount and Top-N on Spark."""

from penstock.papers.dp_stream.spark.jobs import JOBS

__all__ = ["JOBS"]
