"""Our policy on real load curves under the conditions of Spark: random arrivals, executors that take time to come.

With several seeds, as chance is a part of it; else as in `predictive_real`.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.predictive_real import DAY, files
from benchmarks.yardstick import Bar, Case, Mean, Run, rows_of

JOBS = ("clicks",)
SEEDS = 3


def rows() -> Iterator[Run | Mean | Bar]:
    yield from rows_of([Case(job, curve.first(DAY), SEEDS, "spark") for job in JOBS for curve in files()])
