"""What the benchmarks of `predictive` share: policies on a job under a load, measured against the oracle."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from statistics import fmean

from penstock.cli.workloads import workload
from penstock.load.trace import Trace
from penstock.runs.oracle import Oracle, oracle
from penstock.runs.simulation import Simulation
from penstock.runs.workload import Workload
from penstock.simulator.conditions import CONDITIONS
from penstock.simulator.ladder import ladder

OURS, RESTLESS, FIXED = "predictive", "ds2 utilisation=0.8", "fixed plan for the peak"
POLICIES = (OURS, RESTLESS, "ds2 utilisation=0.5", "threshold", "flink_autoscaler", FIXED)
PROCESSES = int(os.environ.get("PENSTOCK_PROCESSES", "0")) or None
"""How many cases are run at the same time; as many as there are cores if that is not said."""


@dataclass(frozen=True)
class Case:
    """A job under a load, scaled to the highest rate of the job's own, with as many seeds and these conditions, and the
    policies that are compared."""

    job: str
    load: Trace
    seeds: int = 1
    conditions: str = "ideal"
    policies: tuple[str, ...] = POLICIES


@dataclass(frozen=True)
class Run:
    """One policy in one case: means over its seeds.

    times_the_oracle    core-seconds as a multiple of the oracle's, which misses `oracle_percent`
    times_the_frontier  the same against the cheapest schedule of the oracle's frontier that misses no more than the
                        policy does: who misses more than the oracle may is not cheaper than it for that
    """

    job: str
    load: str
    conditions: str
    seeds: int
    policy: str
    violations_percent: float
    core_seconds: float
    times_the_oracle: float
    times_the_frontier: float
    oracle_percent: float
    changes: float


@dataclass(frozen=True)
class Mean:
    """A policy over all cases under the same conditions."""

    conditions: str
    policy: str
    violations_percent: float
    worst_percent: float
    times_the_oracle: float
    times_the_frontier: float
    changes: float


@dataclass(frozen=True)
class Bar:
    """A figure to reach."""

    conditions: str
    figure: str
    reached: float
    to_reach: str


def compare(case: Case) -> list[Run]:
    """All policies in one case."""
    job = workload(case.job)
    job = replace(job, trace=case.load.scaled(job.trace.peak))
    conditions, seeds = CONDITIONS[case.conditions], range(case.seeds)
    known = oracle(Simulation(job, policy="static", conditions=conditions), seeds=seeds)
    found = []
    for policy in case.policies:
        results = [replace(_simulation(job, policy), conditions=conditions, seed=seed).run() for seed in seeds]
        core_seconds = fmean(result.core_seconds for result in results)
        missed = fmean(result.violation_ratio for result in results)
        found.append(Run(
            case.job, case.load.name, case.conditions, case.seeds, policy, 100 * missed, core_seconds,
            core_seconds / known.best.core_seconds, core_seconds / at_most(known, missed),
            100 * known.best.violation_ratio, fmean(result.rescales for result in results),
        ))  # fmt: skip
    return found


def at_most(known: Oracle, missed: float) -> float:
    """The core-seconds of the cheapest schedule with no more violations; of the one with the fewest if none has."""
    schedules = (known.best, *known.frontier)
    within = [each.core_seconds for each in schedules if each.violation_ratio <= missed]
    return min(within, default=min(schedules, key=lambda each: each.violation_ratio).core_seconds)


def _simulation(job: Workload, policy: str) -> Simulation:
    if policy == FIXED:  # the cheapest plan that holds every target at the highest rate, from the beginning
        steps = ladder(job.job, job.slo, job.trace.peak)
        return Simulation(replace(job, job=replace(job.job, start=steps.rungs[-1].plan)), policy="static")
    name, _, options = policy.partition(" ")
    given = {key: float(value) for key, _, value in (pair.partition("=") for pair in options.split() if pair)}
    return Simulation(job, policy=name, policy_options=given)


def rows_of(cases: Sequence[Case], which: str = "") -> Iterator[Run | Mean | Bar]:
    """Every run, then the means over all of them, then the bars, for each kind of conditions by itself.

    `which` says which cases these are, where there are others that have means of their own.
    """
    runs: list[Run] = []
    with ProcessPoolExecutor(PROCESSES) as pool:
        for found in pool.map(compare, cases):
            runs += found
            yield from found
    for conditions in dict.fromkeys(case.conditions for case in cases):
        alike = [each for each in runs if each.conditions == conditions]
        policies = dict.fromkeys(each.policy for each in alike)
        named = f"{conditions}, {which}" if which else conditions
        means = {policy: mean(named, [each for each in alike if each.policy == policy]) for policy in policies}
        yield from means.values()
        yield from bars(named, means, alike)


def mean(conditions: str, runs: Sequence[Run]) -> Mean:
    return Mean(
        conditions,
        runs[0].policy,
        fmean(each.violations_percent for each in runs),
        max(each.violations_percent for each in runs),
        fmean(each.times_the_oracle for each in runs),
        fmean(each.times_the_frontier for each in runs),
        fmean(each.changes for each in runs),
    )


def bars(conditions: str, means: dict[str, Mean], runs: Sequence[Run]) -> Iterator[Bar]:
    ours = means[OURS]
    yield Bar(conditions, "violations, percent of seconds", ours.violations_percent, "at most 0.5")
    yield Bar(conditions, "violations of the worst load, percent", ours.worst_percent, "at most 1.5")
    yield Bar(conditions, "core-seconds, times the oracle's", ours.times_the_oracle, "at most 1.10")
    rivals = [
        each.times_the_oracle
        for each in means.values()
        if each is not ours and each.violations_percent <= ours.violations_percent
    ]
    if rivals:
        saved = 1 - ours.times_the_oracle / min(rivals)
        yield Bar(conditions, "core-seconds saved against the cheapest with no more violations", saved, "at least 0.25")
    by_load = saved_by_load(runs)
    if by_load:
        yield Bar(conditions, "the same load by load, mean where there is one", fmean(by_load), "at least 0.25")
        yield Bar(conditions, "the same load by load, least", min(by_load), "at least 0.25")
    part = ours.changes / means[RESTLESS].changes
    yield Bar(conditions, "changes, part of those of ds2 at 80 %", part, "at most 0.4")


def saved_by_load(runs: Sequence[Run]) -> list[float]:
    """What ours saves against the cheapest of the others that misses no more, for each case in which there is one."""
    saved = []
    for ours in (each for each in runs if each.policy == OURS):
        rivals = [
            each.core_seconds
            for each in runs
            if each.policy != OURS
            and (each.job, each.load) == (ours.job, ours.load)
            and each.violations_percent <= ours.violations_percent
        ]
        if rivals:
            saved.append(1 - ours.core_seconds / min(rivals))
    return saved
