"""Event latency optimisation: AuTraScale+ and three simpler methods drain a backlog within a limit.

As in the paper, throughput and processing latency are optimised first; from the plan that this ends with, each method
finds its own, with throughputs profiled offline under a saturating input; then the job runs with that plan, and what
counts is when its event latency is met.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from penstock.load.curves import constant
from penstock.model import Observation, Slo
from penstock.papers.autrascale.steady import base_at, configuration, latency_ms, plan_for, steady, taught, training_set
from penstock.papers.catalogue import workload
from penstock.papers.runs import run, under
from penstock.performance.backlog import BacklogModel, met
from penstock.performance.bayesian.drain_search import DrainSearch
from penstock.performance.bayesian.search_space import Configuration, SearchSpace
from penstock.policies import POLICIES
from penstock.policies._drainer import Drainer

JOB, SATURATING, SHARE, WINDOW, TRIALS = "yahoo_open_store", 200e3, 0.4, 10.0, 10
PROCESSING = "130 ms"
"""The target for processing latency, which the paper does not print here: that of its Table V for the same job.

110 and 120 ms end at the same plan. 200 ms would be met by the base: the simpler methods would then begin with about
half as many instances, and nothing would be saved against them.
"""

THRESHOLD = 0.99
"""The score (13) at which a throughput is close enough. It is not printed either, but derived: no limit was missed, and
at 0.9, the threshold of (8), a throughput counts that is too low by a ninth of what must go, and so comes late."""

METHODS = ("autrascale_plus", "exponent", "proportion", "max")
BACKLOGS = (6_000_000, 12_000_000, 16_000_000)
CONDITIONS = (
    *((backlog, 500, limit) for backlog in BACKLOGS for limit in (6, 8, 10)),
    *((12_000_000, target, 8) for target in (250, 1000)),
)
"""Backlog, target (ms) and limit (min): the target is varied for the medium backlog only, as it hardly moves V."""


@dataclass(frozen=True)
class Drained:
    """The plan that a method found, and how long it takes to meet the event latency; None: more than an hour."""

    plan: Configuration
    minutes: float | None
    limit_minutes: float

    @property
    def total(self) -> int:
        return sum(self.plan)

    @property
    def in_time(self) -> bool:
        return self.minutes is not None and self.minutes <= self.limit_minutes


def profiled(plan: Configuration) -> float:
    """The throughput of a plan under a saturating input."""
    return steady(JOB, SATURATING, plan).throughput or 0.0


@cache
def input_rate() -> float:
    """40 % of the most that the job can do."""
    return round(SHARE * profiled((40,) * 5), -2)


@cache
def drained(method: str, backlog: int, target_ms: int, limit_minutes: int) -> Drained:
    plan = found(method, backlog, target_ms, limit_minutes)
    chosen = workload(JOB)
    slo = Slo(event_latency=f"{target_ms} ms")
    test = under(
        chosen, trace=constant(input_rate(), 3600.0), slo=slo, start=plan_for(chosen.job.topology, plan)
    )  # fmt: skip
    (cycles,) = run(test, "static", seeds=(0,), interval=f"{WINDOW:g} s", backlog=backlog).cycles
    end = next((c.samples[-1].end for c in cycles if met(c.samples[-1], slo)), None)
    return Drained(plan, None if end is None else end / 60.0, limit_minutes)


@cache
def steady_plan() -> Configuration:
    """pi_p: where AuTraScale+ ends at this rate before there is a backlog, its model trained with the bootstrap set."""
    chosen, rate = workload(JOB), input_rate()
    base = base_at(JOB, rate)
    points = training_set(SearchSpace.above(base, chosen.job.topology))
    start = plan_for(chosen.job.topology, base)
    test = under(chosen, trace=constant(rate, 3600.0), slo=Slo(processing_latency=PROCESSING), start=start)
    options = {"policy_running_time": 180.0, "backlog_patience": 1800.0}
    ended = run(test, "autrascale_plus", options, seeds=(0,), prepare=taught(JOB, rate, base, points))
    return configuration(ended.last_plans()[0])


def found(method: str, backlog: int, target_ms: int, limit_minutes: int) -> Configuration:
    """The plan of a method for the target throughput V (equation 12), from pi_p on."""
    topology, plan = workload(JOB).job.topology, steady_plan()
    latency = latency_ms(steady(JOB, input_rate(), plan))
    model = BacklogModel(input_rate(), backlog, latency, target_ms, 60.0 * limit_minutes)
    if method == "autrascale_plus":
        return _searched(SearchSpace.above(base_at(JOB, input_rate()), topology), model)
    drainer = POLICIES.create(method)
    assert isinstance(drainer, Drainer)
    while True:
        seen = Observation(t=0.0, topology=topology, slo=Slo(), plan=plan_for(topology, plan), samples=())
        wanted = configuration(drainer.reach(seen, profiled(plan), model.target_throughput))
        if wanted == plan or method == "proportion":
            return wanted
        plan = wanted


def _searched(space: SearchSpace, model: BacklogModel) -> Configuration:
    """Algorithm 3 with at most `TRIALS` plans beyond the bootstrap set.

    Throughput comes in steps as large as an operator's instance, so the threshold may lie between two of them, and
    the paper's loop would go through the whole space: then the least plan that reaches V is taken.
    """
    gap = model.target_throughput - model.input_rate
    search = DrainSearch(space, model.target_throughput, beta=gap, threshold=THRESHOLD)
    profile = search.run(profiled, training_set(space), TRIALS)
    enough = [k for k, throughput in profile.items() if throughput >= model.target_throughput]
    return search.found(profile) or min(enough, key=sum)
