"""PSPS' applications on Spark, and Tables VI, VII, VIII and XII there."""

from __future__ import annotations

from penstock.papers.psps.spark import dns, table6, table7, table8, table8_real_time, table12, twitter, twitter_complex
from penstock.papers.psps.workloads import RAW
from penstock.runs.spark_workload import under_load

JOBS = (*dns.JOBS, *twitter.JOBS, *twitter_complex.JOBS, under_load(RAW, twitter.JOBS[0], 110.0))
EXPERIMENTS = {
    "table6": table6.table_6,
    "table7": table7.table_7,
    "table8": table8.table_8,
    "table8_real_time": table8_real_time.table_8,
    "table12": table12.table_12,
}
