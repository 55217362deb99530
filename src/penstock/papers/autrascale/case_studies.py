"""The two case studies that open both AuTraScale papers: a rising rate, and a growing parallelism."""

from __future__ import annotations

from functools import cache

from penstock.load.curves import constant
from penstock.model import Latency, Plan, Sample
from penstock.papers.catalogue import workload
from penstock.papers.runs import run, under

RISING = "wordcount_case_study under static, all operators at 2; 100k records/s, 50k more every 10 min; seed 0"
GROWING = "wordcount_case_study under static at 300k records/s, all operators at p; the last of 15 min; seed 0"
PAPER_THROUGHPUT = {1: 150e3, 2: 250e3, 3: 275e3, 4: 300e3, 5: 300e3, 6: 300e3}


@cache
def rising() -> tuple[Sample, ...]:
    """Parallelism 2 throughout, 100k records/s and 50k more every ten minutes: a window for each minute."""
    (cycles,) = run(workload("wordcount_case_study"), "static", seeds=(0,)).cycles
    return tuple(cycle.samples[-1] for cycle in cycles)


@cache
def growing() -> dict[int, Sample]:
    """300k records/s with all operators at 1 to 6: the last minute of each."""
    case = workload("wordcount_case_study")
    found = {}
    for p in range(1, 7):
        plan = Plan(dict.fromkeys(case.job.topology.names, p))
        (cycles,) = run(under(case, trace=constant(300e3, 900.0), start=plan), "static", seeds=(0,)).cycles
        found[p] = cycles[-1].samples[-1]
    return found


def mean_ms(latency: Latency | None) -> float:
    """A mean to draw; 0 where no record left."""
    return 0.0 if latency is None or latency.mean is None else latency.mean
