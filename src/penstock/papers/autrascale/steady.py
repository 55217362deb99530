"""Jobs in a steady state: what a fixed plan does at a fixed rate, and what AuTraScale would know from such runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

import numpy as np

from penstock.load.curves import constant
from penstock.model import Observation, Plan, Sample, Topology
from penstock.papers.catalogue import workload
from penstock.papers.runs import run, under
from penstock.performance.bayesian.bootstrap import bootstrap_set
from penstock.performance.bayesian.rate_library import Measurement, RateLibrary, RateRecord
from penstock.performance.bayesian.search_space import Configuration, SearchSpace
from penstock.performance.throughput import throughput_parallelism
from penstock.performance.true_rates import input_rates, true_rates
from penstock.policies import Policy
from penstock.policies.autrascale import AuTraScale

WINDOW, SECONDS = 300.0, 900.0


@cache
def steady(name: str, rate: float, configuration: Configuration, seed: int = 0) -> Sample:
    """Five minutes of a workload at a fixed plan, ten minutes after its start."""
    chosen = workload(name)
    plan = plan_for(chosen.job.topology, configuration)
    fixed = under(chosen, trace=constant(rate, SECONDS), start=plan)
    (cycles,) = run(fixed, "static", seeds=(seed,), interval=f"{WINDOW:g} s").cycles
    return cycles[-1].samples[-1]


def plan_for(topology: Topology, configuration: Configuration) -> Plan:
    return Plan(dict(zip(topology.names, configuration, strict=True)))


def configuration(plan: Plan) -> Configuration:
    return tuple(plan.parallelism.values())


def latency_ms(sample: Sample) -> float:
    """The mean processing latency of a window in which records left the job."""
    measured = sample.processing_latency_ms
    assert measured is not None
    assert measured.mean is not None
    return measured.mean


@cache
def base_at(name: str, rate: float) -> Configuration:
    """Where equation 3 ends at a rate: what all ones ask for, as these jobs nearly scale linearly."""
    chosen = workload(name)
    ones = (1,) * len(chosen.job.topology.names)
    sample = steady(name, rate, ones)
    plan = plan_for(chosen.job.topology, ones)
    seen = Observation(t=sample.end, topology=chosen.job.topology, slo=chosen.slo, plan=plan, samples=(sample,))
    return throughput_parallelism(chosen.job.topology, true_rates(seen), input_rates(seen))


def training_set(space: SearchSpace, samples: int | None = None, seed: int = 0) -> tuple[Configuration, ...]:
    """The bootstrap set (six uniform samples); where a paper had more, random ones make up the number."""
    points = list(bootstrap_set(space, 6))
    random = np.random.default_rng(seed)
    while samples is not None and len(points) < samples:
        point = tuple(int(k) for k in random.integers(space.lower, space.upper, endpoint=True))
        points += [] if point in points else [point]
    return tuple(points)


def record_of(
    name: str, rate: float, base: Configuration | None, points: Iterable[Configuration], seed: int = 0
) -> RateRecord:
    """What AuTraScale would know of a rate from steady runs of these points; with None it must find the base."""
    record = RateRecord(rate, recommended=base, base=base)
    for point in points:
        sample = steady(name, rate, point, seed)
        assert sample.throughput is not None
        record.measure(point, Measurement(rate, sample.throughput, latency_ms(sample), training=True))
    return record


def taught(
    name: str, rate: float, base: Configuration | None, points: Iterable[Configuration], seed: int = 0
) -> Callable[[Policy], None]:
    """Give AuTraScale the model of a rate, trained before the experiment begins."""
    record = record_of(name, rate, base, points, seed)

    def prepare(policy: Policy) -> None:
        assert isinstance(policy, AuTraScale)
        policy.library = RateLibrary(policy.rate_tolerance, [RateRecord.from_json(record.to_json())])

    return prepare
