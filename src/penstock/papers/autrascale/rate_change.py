"""Runs in which the input rate changes: a policy with a model of the old rate looks for a plan at the new one."""

from __future__ import annotations

import operator
import time
from dataclasses import dataclass, field
from functools import cache
from statistics import median
from typing import ClassVar

from threadpoolctl import threadpool_limits

from penstock.guards import only
from penstock.load.curves import steps
from penstock.model import Cycle, Decision, Observation, Slo, Topology
from penstock.papers.autrascale.elasticity import BACKLOG_PATIENCE, tried
from penstock.papers.autrascale.steady import (
    base_at,
    configuration,
    latency_ms,
    plan_for,
    record_of,
    steady,
    taught,
    training_set,
)
from penstock.papers.catalogue import workload
from penstock.papers.runs import under
from penstock.performance.bayesian.rate_library import RateRecord
from penstock.performance.bayesian.search_space import Configuration, SearchSpace
from penstock.policies import POLICIES, Policy, State
from penstock.policies.autrascale import AuTraScale
from penstock.runs.simulation import Simulation

RUNNING_TIME, SECONDS, SEEDS = 300.0, 4 * 3600.0, (0, 1, 2, 3, 4)
"""The policy running time, how long each of the two rates lasts, and the seeds."""


@dataclass
class Timed(Policy):
    """A policy that decides as `inner` does, and measures the CPU seconds of each decision that is a transfer."""

    name: ClassVar[str] = "timed"

    inner: AuTraScale
    seconds: list[float] = field(default_factory=list)

    def decide(self, observation: Observation) -> Decision:
        began = time.process_time()
        decision = self.inner.decide(observation)
        if decision.figures.get("phase") == "transfer":
            self.seconds.append(time.process_time() - began)
        return decision

    def learn(self, observation: Observation) -> None:
        self.inner.learn(observation)

    def state(self) -> State:
        return self.inner.state()

    def restore(self, state: State) -> None:
        self.inner.restore(state)


@dataclass(frozen=True)
class Arrival:
    """The plan that a policy ended with at the new rate, what it does in a steady state, and what finding it took."""

    plan: Configuration
    latency_ms: float
    meets: bool
    iterations: int
    seconds: tuple[float, ...]


@cache
def arrival(
    name: str, old_rate: float, rate: float, target: str, policy: str, seed: int, sampled: bool = False
) -> Arrival:
    """The job runs at the old rate, of which the policy has a model, until that has settled; then the rate changes.

    Where it is `sampled`, the policy knows real samples at the new rate too: those of the bootstrap set in which one
    operator has its most.
    """
    chosen, slo = workload(name), Slo(processing_latency=target)
    topology, base = chosen.job.topology, base_at(name, old_rate)
    test = under(chosen, trace=steps((old_rate, rate), SECONDS, "change"), slo=slo, start=plan_for(topology, base))
    options = {"policy_running_time": RUNNING_TIME, "backlog_patience": BACKLOG_PATIENCE}
    learner = POLICIES.create(policy, options)
    assert isinstance(learner, AuTraScale)
    points = (base, *training_set(SearchSpace.above(base, topology)))
    taught(name, old_rate, base, points, seed)(learner)
    if sampled:
        learner.library.records.append(_sampled(name, rate, topology, seed))
    timed, cycles = Timed(learner), list[Cycle]()
    with threadpool_limits(1):  # idle threads of a library spin, which would count
        Simulation(test, policy=timed, guards=only(), seed=seed).run(cycles.append)
    before = [configuration(cycle.decision.plan) for cycle in cycles if cycle.t <= SECONDS]
    plans = [before[-1], *tried([cycle for cycle in cycles if cycle.t > SECONDS])]
    return _arrived(name, rate, slo, plans[-1], len(plans) - 1, seed, tuple(timed.seconds))


def _sampled(name: str, rate: float, topology: Topology, seed: int) -> RateRecord:
    base = base_at(name, rate)
    points = (k for k in training_set(SearchSpace.above(base, topology)) if sum(map(operator.ne, k, base)) == 1)
    return record_of(name, rate, None, points, seed)


@cache
def ds2_offline(name: str, rate: float, target: str, seed: int) -> Arrival:
    """DS2 on steady runs, from all ones until it asks for the same plan again."""
    chosen, slo, ds2 = workload(name), Slo(processing_latency=target), POLICIES.create("ds2")
    topology = chosen.job.topology
    plans: list[Configuration] = [(1,) * len(topology.names)]
    while True:
        plan, sample = plan_for(topology, plans[-1]), steady(name, rate, plans[-1], seed)
        seen = Observation(t=sample.end, topology=topology, slo=slo, plan=plan, samples=(sample,))
        wanted = configuration(ds2.decide(seen).plan)
        if wanted in plans:
            return _arrived(name, rate, slo, plans[-1], len(plans) - 1, seed)
        plans.append(wanted)


def _arrived(
    name: str, rate: float, slo: Slo, plan: Configuration, iterations: int, seed: int, seconds: tuple[float, ...] = ()
) -> Arrival:
    sample = steady(name, rate, plan, seed)
    return Arrival(plan, latency_ms(sample), not slo.violations(sample), iterations, seconds)


def total(found: list[Arrival]) -> float:
    """The instances of the final plans, in the median of the seeds."""
    return median(sum(one.plan) for one in found)


def iterations(found: list[Arrival]) -> float:
    return median(one.iterations for one in found)


def latency(found: list[Arrival]) -> float:
    return median(one.latency_ms for one in found)
