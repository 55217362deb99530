"""Our policy on real load curves: a day of each file of the folder that the environment variable PENSTOCK_TRACES names.

Under jobs whose changes cost little and much; all guards on, a decision every 60 s, one seed.
`predictive_later_days` takes other days of the same files, `predictive_conditions` random arrivals and executors.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from benchmarks.yardstick import Bar, Case, Mean, Run, rows_of
from penstock.load.trace import Trace, read_trace

DAY = 86_400.0
JOBS = ("clicks", "wordcount", "yahoo_open_store")


def files() -> list[Trace]:
    """The load curves of the folder, none if there is no folder."""
    folder = os.environ.get("PENSTOCK_TRACES")
    found = sorted(Path(folder).glob("*.csv")) if folder else []
    return [read_trace(file, fill_gaps=True) for file in found]


def rows() -> Iterator[Run | Mean | Bar]:
    yield from rows_of([Case(job, curve.first(DAY)) for job in JOBS for curve in files()])
