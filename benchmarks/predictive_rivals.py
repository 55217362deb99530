"""Our policy against every other one of the catalogue: who misses no more than it does, and with how many cores?

Two jobs, whose changes cost little and much, under the curves of `predictive`; else as there.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.predictive import loads
from benchmarks.yardstick import POLICIES, Bar, Case, Mean, Run, rows_of

JOBS = ("clicks", "wordcount")
RIVALS = (
    *POLICIES,
    "autoscale",
    "autrascale",
    "autrascale_plus",
    "conttune",
    "dabs",
    "dataflow",
    "dp_stream",
    "drs",
    "dstreams",
    "exponent",
    "hpa",
    "keda_lag",
    "phoebe",
    "proportion",
    "psps",
    "spark_dynamic_allocation",
    "storm_default",
)
"""All but `max`, which is a plan fixed at every bound, and `static`, which is that of the start."""


def rows() -> Iterator[Run | Mean | Bar]:
    yield from rows_of([Case(job, load, policies=RIVALS) for job in JOBS for load in loads()])
