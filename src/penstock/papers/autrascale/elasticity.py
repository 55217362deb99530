"""The elasticity tests of AuTraScale and AuTraScale+: scale up and scale down at a steady rate, against DRS."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from statistics import fmean

from penstock.guards import only
from penstock.load.curves import constant
from penstock.model import Cycle
from penstock.papers.autrascale.steady import configuration, latency_ms, plan_for, steady, taught, training_set
from penstock.papers.catalogue import workload
from penstock.papers.runs import run, under
from penstock.performance.bayesian.score import benefit_score
from penstock.performance.bayesian.search_space import Configuration, SearchSpace
from penstock.performance.throughput import keeps_up

RUNNING_TIME, TRIALS, ALPHA, SEEDS = 600.0, 10, 0.8, (0, 1, 2)


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


@dataclass(frozen=True)
class Ending:
    """Where a method ended: its plan, what that plan does in a steady state, and after how many changes."""

    plan: Configuration
    throughput: float
    latency_ms: float
    score: float
    iterations: float
    meets: bool

    @property
    def total(self) -> int:
        return sum(self.plan)


@cache
def ending(job: str, kind: str, method: str, policy: str = "autrascale") -> Ending:
    """Run a method three times; the plan is that of seed 0, figures are means, QoS must be met under every seed."""
    each = [_ended(job, kind, method, policy, seed) for seed in SEEDS]
    return Ending(
        plan=each[0].plan,
        throughput=fmean(one.throughput for one in each),
        latency_ms=fmean(one.latency_ms for one in each),
        score=fmean(one.score for one in each),
        iterations=fmean(one.iterations for one in each),
        meets=all(one.meets for one in each),
    )


def _ended(job: str, kind: str, method: str, policy: str, seed: int) -> Ending:
    setting, chosen = TESTS[job], workload(job)
    topology, target = chosen.job.topology, chosen.slo.processing_latency_ms
    assert target is not None
    seconds = 60.0 + TRIALS * (RUNNING_TIME + 60.0)
    test = under(chosen, trace=constant(setting.rate, seconds), start=plan_for(topology, STARTS[job, kind]))
    if method == "AuTraScale":
        space = SearchSpace.above(setting.base, topology)
        points = training_set(space, setting.samples)
        runs = run(
            test, policy, {"policy_running_time": RUNNING_TIME}, seeds=(seed,),
            prepare=taught(job, setting.rate, setting.base, points, seed),
        )  # fmt: skip
    else:
        guards = only(stabilisation={"seconds": RUNNING_TIME + 60.0})
        runs = run(test, "drs", {"rates": method.split()[1]}, seeds=(seed,), guards=guards)
    plans = tried(runs.cycles[0]) or [STARTS[job, kind]]
    if method == "AuTraScale":
        plan, iterations = plans[-1], len(plans)
    else:
        met = (n for n, k in enumerate(plans) if latency_ms(steady(job, setting.rate, k, seed)) <= target)
        last = next(met, len(plans) - 1)
        plan, iterations = plans[last], last + 1
    sample = steady(job, setting.rate, plan, seed)
    throughput, latency = sample.throughput or 0.0, latency_ms(sample)
    return Ending(
        plan, throughput, latency, benefit_score(ALPHA, target, latency, setting.base, plan), iterations,
        meets=latency <= target and keeps_up(throughput, setting.rate, 0.01),
    )  # fmt: skip


def tried(cycles: Sequence[Cycle]) -> list[Configuration]:
    """The plans that a run put in force one after the other, without the first one."""
    return [configuration(cycle.decision.plan) for cycle in cycles if cycle.changed]


def saved(kind: str, policy: str = "autrascale", methods: Sequence[str] = METHODS[:2]) -> float:
    """The part of DRS' instances that AuTraScale does without: against the mean of DRS' plans, averaged over the jobs.

    That way the paper's own plans give its 66.6 % and its 36.7 %.
    """
    return fmean(
        1.0 - ending(job, kind, "AuTraScale", policy).total / fmean(ending(job, kind, m).total for m in methods)
        for job in TESTS
    )
