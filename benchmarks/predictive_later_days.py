"""Our policy on the sixth day of each real load curve that has one: days that no constant was chosen by.

Else as in `predictive_real`.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.predictive_real import DAY, files
from benchmarks.yardstick import Bar, Case, Mean, Run, rows_of

JOBS = ("clicks", "wordcount")
BEFORE = 5


def rows() -> Iterator[Run | Mean | Bar]:
    days = [curve.after(BEFORE * DAY).first(DAY) for curve in files() if curve.seconds >= (BEFORE + 1) * DAY]
    yield from rows_of([Case(job, day) for job in JOBS for day in days])
