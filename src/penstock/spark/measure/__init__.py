"""Measures jobs on Spark: progress, stages, records; used by every engine.

What Spark reports of batches and stages is read here for `penstock advise` as well, which needs no Spark.
"""
