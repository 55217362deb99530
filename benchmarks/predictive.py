"""Our policy against the oracle and the others: the bars of violations, core-seconds, changes and decision time.

Every job under every load, all guards on, a decision every 60 s, half a day each. Loads are curves of Penstock's own,
and the files of a folder named by the environment variable PENSTOCK_TRACES, of which the first half day is taken.
PENSTOCK_SEEDS is how many seeds each is run with; one is the default, as the oracle alone takes minutes for each.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

from benchmarks.policy_cost import milliseconds
from penstock.cli.workloads import workload
from penstock.load.curves import daily, fluctuating, surge
from penstock.load.trace import Trace, read_trace
from penstock.runs.oracle import oracle
from penstock.runs.simulation import Simulation
from penstock.runs.workload import Workload
from penstock.simulator.ladder import ladder

SECONDS = 43_200.0
JOBS = ("clicks", "clicks_in_batches", "wordcount", "yahoo_open_store", "twitter_complex", "advertising")
OURS, RESTLESS, FIXED = "predictive", "ds2 utilisation=0.8", "fixed plan for the peak"
OTHERS = (RESTLESS, "ds2 utilisation=0.5", "threshold", "flink_autoscaler", FIXED)
SEEDS = int(os.environ.get("PENSTOCK_SEEDS", "1"))


@dataclass(frozen=True)
class Run:
    """One policy on one job under one load; core-seconds as a multiple of the oracle's."""

    job: str
    load: str
    policy: str
    violations_percent: float
    core_seconds: float
    times_the_oracle: float
    changes: int


@dataclass(frozen=True)
class Mean:
    """A policy over all jobs and loads."""

    policy: str
    violations_percent: float
    worst_percent: float
    times_the_oracle: float
    changes: float


@dataclass(frozen=True)
class Bar:
    """A figure to reach."""

    figure: str
    reached: float
    to_reach: str


def loads(peak: float) -> list[Trace]:
    """Curves that differ in what is hard about them: a slow day, a surge, a rate that jumps every few minutes."""
    restless = fluctuating(daily(0.3 * peak, 0.7 * peak, days=0.5), 300.0, 0.15, seed=1)
    curves = [daily(0.2 * peak, peak, days=0.5), surge(0.3 * peak, peak, SECONDS), replace(restless, name="restless")]
    folder = os.environ.get("PENSTOCK_TRACES")
    files = sorted(Path(folder).glob("*.csv")) if folder else []
    kept = (read_trace(file, fill_gaps=True) for file in files)
    return [each.first(SECONDS).scaled(peak) for each in (*curves, *kept)]


def run(job: Workload, load: Trace, policy: str, best: float) -> Run:
    """The mean over all seeds."""
    simulation = _simulation(replace(job, trace=load), policy)
    results = [replace(simulation, seed=seed).run() for seed in range(SEEDS)]
    core_seconds = fmean(result.core_seconds for result in results)
    return Run(
        job.name, load.name, policy, 100 * fmean(result.violation_ratio for result in results), core_seconds,
        core_seconds / best, round(fmean(result.rescales for result in results)),
    )  # fmt: skip


def _simulation(job: Workload, policy: str) -> Simulation:
    if policy == FIXED:  # the cheapest plan that holds every target at the highest rate, from the beginning
        steps = ladder(job.job, job.slo, job.trace.peak)
        return Simulation(replace(job, job=replace(job.job, start=steps.rungs[-1].plan)), policy="static")
    name, _, options = policy.partition(" ")
    given = {key: float(value) for key, _, value in (pair.partition("=") for pair in options.split() if pair)}
    return Simulation(job, policy=name, policy_options=given)


def compare(name: str, number: int) -> list[Run]:
    """All policies on one job under one of its loads."""
    job = workload(name)
    load = loads(job.trace.peak)[number]
    best = oracle(Simulation(replace(job, trace=load), policy="static"), seeds=range(SEEDS)).best
    return [run(job, load, policy, best.core_seconds) for policy in (OURS, *OTHERS)]


def rows() -> Iterator[Run | Mean | Bar]:
    runs: list[Run] = []
    with ProcessPoolExecutor() as pool:
        pairs = [(name, number) for name in JOBS for number in range(len(loads(1.0)))]
        for found in pool.map(compare, *zip(*pairs, strict=True)):
            runs += found
            yield from found
    means = {policy: mean([each for each in runs if each.policy == policy]) for policy in (OURS, *OTHERS)}
    yield from means.values()
    ours = means[OURS]
    yield Bar("violations, percent of seconds", ours.violations_percent, "at most 0.5")
    yield Bar("violations of the worst load, percent", ours.worst_percent, "at most 1.5")
    yield Bar("core-seconds, times the oracle's", ours.times_the_oracle, "at most 1.10")
    rivals = [
        each.times_the_oracle
        for each in means.values()
        if each is not ours and each.violations_percent <= ours.violations_percent
    ]
    if rivals:
        saved = 1 - ours.times_the_oracle / min(rivals)
        yield Bar("core-seconds saved against the cheapest with no more violations", saved, "at least 0.25")
    yield Bar("changes, part of those of ds2 at 80 %", ours.changes / means[RESTLESS].changes, "at most 0.4")
    yield Bar("ms of a decision with 10 operators", milliseconds(OURS, 10), "under 5")
    yield Bar("ms of a decision with 100 operators", milliseconds(OURS, 100), "under 50")


def mean(runs: list[Run]) -> Mean:
    return Mean(
        runs[0].policy,
        fmean(each.violations_percent for each in runs),
        max(each.violations_percent for each in runs),
        fmean(each.times_the_oracle for each in runs),
        fmean(each.changes for each in runs),
    )
