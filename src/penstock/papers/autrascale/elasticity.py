"""The elasticity tests of AuTraScale and AuTraScale+: scale up and scale down at a steady rate, against DRS."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import fmean, median

from penstock.guards import only
from penstock.load.curves import constant
from penstock.model import Cycle
from penstock.papers.autrascale.steady import configuration, latency_ms, plan_for, steady, taught, training_set
from penstock.papers.catalogue import workload
from penstock.papers.runs import run, under
from penstock.performance.bayesian.score import benefit_score
from penstock.performance.bayesian.search_space import Configuration, SearchSpace
from penstock.performance.throughput import keeps_up
from penstock.report.item import Chart, bar_chart

RUNNING_TIME, TRIALS, ALPHA, SEEDS = 600.0, 10, 0.8, (0, 1, 2, 3, 4)
BACKLOG_PATIENCE = 1800.0
"""The policy running time is there "to obtain a stable metric". A plan that hardly does more than comes in works for
half an hour on what waited for its restart, and shows the latency of full buffers as long."""


@dataclass(frozen=True)
class ElasticityTest:
    """A job of the tests: its rate, its base k' and how many samples its model is trained with."""

    rate: float
    base: Configuration
    samples: int


TESTS = {
    "wordcount": ElasticityTest(350e3, (3, 4, 12, 10), 10),
    "yahoo": ElasticityTest(34e3, (4, 2, 1, 1, 34), 40),
}
STARTS: dict[tuple[str, str], Configuration] = {
    ("wordcount", "up"): (1, 3, 12, 2),
    ("wordcount", "down"): (36, 32, 24, 20),
    ("yahoo", "up"): (4, 2, 1, 1, 4),
    ("yahoo", "down"): (40, 40, 40, 40, 40),
}
METHODS = ("DRS observed", "DRS true", "AuTraScale")
CALIBRATED = {"DRS observed": "DRS observed, calibrated", "DRS true": "DRS true, calibrated"}
"""DRS as its authors run it: with its estimate scaled to the latency that was measured."""

KINDS = ("up", "down")
JOBS = {"wordcount": "wordcount at 350k records/s within 180 ms", "yahoo": "yahoo at 34k records/s within 300 ms"}
SETTING = (
    "{jobs}, at most 40 instances of an operator (two workers of 20 cores); AuTraScale's model is trained before with "
    "10 and 40 samples in a steady state, none of which ends a search; policy running time 10 min, longer while a "
    "restart's backlog drains, a = 0.8, threshold 0.9; DRS ends at the first plan that meets the latency or after 10 "
    "changes; "
    "latency and throughput of the final plan once its backlog is gone; medians of seeds 0 to 4 (plans: that of seed 0)"
)
FACTORIALS = (
    "Seven of its eight plans there have operators at 33, whatever they do, and others at their most: kept in 32 bits, "
    "34! is 0, and from there on the formula of M/M/k gives no number"
)
"""The likely reason for DRS' plans in the paper: 34! has 2 as a factor 32 times, 33! only 31 times."""

Test = tuple[str, str, str]
"""Job, up or down, method."""

Printed = tuple[Configuration, float, float, float | None, int, bool]
"""Optimal value, throughput, latency, score, iterations, meets QoS."""

PAPER: dict[Test, Printed] = {
    ("wordcount", "up", "DRS observed"): ((23, 33, 40, 16), 381e3, 246.0, None, 9, False),
    ("wordcount", "up", "DRS true"): ((2, 1, 8, 8), 338e3, 146.0, None, 2, False),
    ("wordcount", "up", "AuTraScale"): ((7, 8, 12, 38), 405e3, 172.0, 0.9096, 3, True),
    ("wordcount", "down", "DRS observed"): ((40, 40, 40, 33), 405e3, 120.0, None, 1, True),
    ("wordcount", "down", "DRS true"): ((40, 33, 40, 40), 406e3, 242.0, None, 1, False),
    ("wordcount", "down", "AuTraScale"): ((10, 16, 12, 10), 355e3, 160.0, 0.9275, 4, True),
    ("yahoo", "up", "DRS observed"): ((40, 33, 33, 33, 33), 35.3e3, 329.0, None, 4, False),
    ("yahoo", "up", "DRS true"): ((40, 33, 33, 33, 40), 35.4e3, 242.0, None, 2, True),
    ("yahoo", "up", "AuTraScale"): ((4, 2, 1, 1, 40), 34.7e3, 223.7, 0.994, 1, True),
    ("yahoo", "down", "DRS observed"): ((40, 33, 33, 33, 33), 35.1e3, 276.0, None, 2, True),
    ("yahoo", "down", "DRS true"): ((40, 33, 33, 33, 40), 34.5e3, 247.0, None, 2, True),
    ("yahoo", "down", "AuTraScale"): ((22, 2, 1, 1, 36), 36.2e3, 246.0, 0.965, 1, True),
}


@dataclass(frozen=True)
class Ending:
    """Where a method ended: its plan, what that plan does in a steady state, and after how many changes."""

    plan: Configuration
    total: float
    throughput: float
    latency_ms: float
    score: float
    iterations: float
    meets: bool
    met: int  # the number of runs that met it
    runs: tuple[tuple[Configuration, ...], ...] = ()  # the plans that each run put in force, without the first one


def ending(
    job: str, kind: str, method: str, policy: str = "autrascale", samples: int | None = None, alpha: float = ALPHA
) -> Ending:
    """Where a method ends; AuTraScale may have another alpha, or a model trained with more samples than the paper's."""
    policy = policy if method == "AuTraScale" else "drs"
    return _ending(job, kind, method, policy, samples or TESTS[job].samples, alpha)


@cache
def _ending(job: str, kind: str, method: str, policy: str, samples: int, alpha: float) -> Ending:
    """Run a method once for each seed; the plan is that of seed 0, figures are medians, QoS is what most seeds show."""
    each = [_ended(job, kind, method, policy, samples, alpha, seed) for seed in SEEDS]
    return Ending(
        plan=each[0].plan,
        total=median(one.total for one in each),
        throughput=median(one.throughput for one in each),
        latency_ms=median(one.latency_ms for one in each),
        score=median(one.score for one in each),
        iterations=median(one.iterations for one in each),
        meets=sum(one.meets for one in each) > len(each) / 2,
        met=sum(one.meets for one in each),
        runs=tuple(plans for one in each for plans in one.runs),
    )


def endings(jobs: Iterable[str], policy: str) -> dict[Test, Ending]:
    """Where all methods end, up and down."""
    return {(job, kind, m): ending(job, kind, m, policy) for job in jobs for kind in KINDS for m in METHODS}


def _ended(job: str, kind: str, method: str, policy: str, samples: int, alpha: float, seed: int) -> Ending:
    case, chosen = TESTS[job], workload(job)
    topology, target = chosen.job.topology, chosen.slo.processing_latency_ms
    assert target is not None
    patience = BACKLOG_PATIENCE if method == "AuTraScale" else 0.0
    seconds = 60.0 + TRIALS * (RUNNING_TIME + 60.0 + patience)
    test = under(chosen, trace=constant(case.rate, seconds), start=plan_for(topology, STARTS[job, kind]))
    if method == "AuTraScale":
        space = SearchSpace.above(case.base, topology)
        points = training_set(space, samples, seed)
        runs = run(
            test, policy, {"alpha": alpha, "policy_running_time": RUNNING_TIME, "backlog_patience": patience},
            seeds=(seed,), prepare=taught(job, case.rate, case.base, points, seed),
        )  # fmt: skip
    else:
        guards = only(stabilisation={"seconds": RUNNING_TIME + 60.0})
        options = {"rates": method.split(",")[0].split()[1], "calibrated": method in CALIBRATED.values()}
        runs = run(test, "drs", options, seeds=(seed,), guards=guards)
    plans = [STARTS[job, kind], *tried(runs.cycles[0])]  # as many iterations as changes: none is 0
    iterations = len(plans) - 1
    if method != "AuTraScale":
        met = (n for n, k in enumerate(plans[1:], 1) if latency_ms(steady(job, case.rate, k, seed)) <= target)
        iterations = next(met, iterations)
    plan = plans[iterations]
    sample = steady(job, case.rate, plan, seed)
    throughput, latency = sample.throughput or 0.0, latency_ms(sample)
    return Ending(
        plan, sum(plan), throughput, latency, benefit_score(ALPHA, target, latency, case.base, plan), iterations,
        meets=(meets := latency <= target and keeps_up(throughput, case.rate, 0.01)),
        met=int(meets),
        runs=(tuple(plans[1 : iterations + 1]),),
    )  # fmt: skip


def tried(cycles: Sequence[Cycle]) -> list[Configuration]:
    """The plans that a run put in force one after the other, without the first one."""
    return [configuration(cycle.decision.plan) for cycle in cycles if cycle.changed]


def saved(found: Mapping[Test, Ending], kind: str, methods: Sequence[str] = METHODS[:2]) -> float:
    """The part of DRS' instances that AuTraScale does without: against the mean of DRS' plans, averaged over the jobs.

    That way the paper's own plans give its 66.6 % and its 36.7 %.
    """
    return fmean(
        1.0 - found[job, kind, "AuTraScale"].total / fmean(found[job, kind, m].total for m in methods) for job in TESTS
    )


def yes_or_no(meets: bool) -> str:
    return "yes" if meets else "no"


def bars(title: str, unit: str, found: Mapping[Test, Ending], figure: Callable[[Ending], float]) -> Chart:
    """A figure of each method, up and down, for each job."""
    ticks = [f"{method}\n{kind}" for kind in KINDS for method in METHODS]
    heights = {job: [figure(one) for test, one in found.items() if test[0] == job] for job in TESTS}
    return bar_chart(title.split(", ")[1], "", unit, ticks, heights)


def setting_of(jobs: Iterable[str]) -> str:
    return SETTING.format(jobs=" and ".join(JOBS[job] for job in jobs))
