"""Our policy against the oracle and the others: the bars of violations, core-seconds, changes and decision time.

Every job under every load, all guards on, a decision every 60 s, half a day each. Loads are curves of Penstock's own;
`predictive_real` takes files. PENSTOCK_SEEDS is how many seeds each is run with (one).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace

from benchmarks.policy_cost import milliseconds
from benchmarks.yardstick import OURS, Bar, Case, Mean, Run, rows_of
from penstock.load.curves import daily, fluctuating, surge
from penstock.load.trace import Trace

SECONDS = 43_200.0
JOBS = ("clicks", "clicks_in_batches", "wordcount", "yahoo_open_store", "twitter_complex", "advertising")
SEEDS = int(os.environ.get("PENSTOCK_SEEDS", "1"))


def loads() -> list[Trace]:
    """Curves that differ in what is hard about them: a slow day, a surge, a rate that jumps every few minutes."""
    restless = fluctuating(daily(0.3, 0.7, days=0.5), 300.0, 0.15, seed=1)
    return [daily(0.2, 1.0, days=0.5), surge(0.3, 1.0, SECONDS), replace(restless, name="restless")]


def rows() -> Iterator[Run | Mean | Bar]:
    yield Bar("alone", "ms of a decision with 10 operators", milliseconds(OURS, 10), "under 5")
    yield Bar("alone", "ms of a decision with 100 operators", milliseconds(OURS, 100), "under 50")
    yield from rows_of([Case(name, load, SEEDS) for name in JOBS for load in loads()])
