"""PSPS' applications on Spark, and Table VIII there."""

from __future__ import annotations

from penstock.papers.psps.spark import dns, table8, twitter, twitter_complex
from penstock.papers.psps.workloads import RAW
from penstock.runs.spark_workload import under_load

JOBS = (*dns.JOBS, *twitter.JOBS, *twitter_complex.JOBS, under_load(RAW, twitter.JOBS[0], 110.0))
EXPERIMENTS = {"table8": table8.table_8}
