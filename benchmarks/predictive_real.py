"""Our policy on real load curves: a day of each file of the folder that the environment variable PENSTOCK_TRACES names.

Under the jobs of `predictive`; all guards on, a decision every 60 s, one seed. A file of less than a day has means of
its own: in an hour a job that has to be sized first is outside its targets for a larger part of the time.
`predictive_later_days` takes other days of the same files, `predictive_conditions` random arrivals and executors.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from benchmarks.predictive import JOBS
from benchmarks.yardstick import Bar, Case, Mean, Run, rows_of
from penstock.load.trace import Trace, read_trace

DAY = 86_400.0


def files() -> list[Trace]:
    """The load curves of the folder, none if there is no folder."""
    folder = os.environ.get("PENSTOCK_TRACES")
    found = sorted(Path(folder).glob("*.csv")) if folder else []
    return [read_trace(file, fill_gaps=True) for file in found]


def rows() -> Iterator[Run | Mean | Bar]:
    days = [curve.first(DAY) for curve in files() if curve.seconds >= DAY]
    shorter = [curve for curve in files() if curve.seconds < DAY]
    yield from rows_of([Case(job, day) for job in JOBS for day in days], "days")
    yield from rows_of([Case(job, curve) for job in JOBS for curve in shorter], "less than a day")
