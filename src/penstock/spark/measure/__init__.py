"""Measures jobs on Spark: progress, stages, records; used by every engine."""
