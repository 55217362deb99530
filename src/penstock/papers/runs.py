"""Runs the same job and policy under several seeds, as most experiments do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from threadpoolctl import threadpool_limits

from penstock.guards import GuardOptions, only
from penstock.load.trace import Trace
from penstock.model import Cycle, Plan, Slo
from penstock.policies import POLICIES, Policy
from penstock.runs.result import Result
from penstock.runs.simulation import Simulation
from penstock.runs.workload import Workload
from penstock.simulator.job import Job


@dataclass(frozen=True)
class Runs:
    """The same run under several seeds. No guards but those asked for: a paper's policy is shown as it is."""

    results: tuple[Result, ...]
    cycles: tuple[tuple[Cycle, ...], ...]

    def mean(self, figure: Callable[[Result], float]) -> float:
        return fmean(map(figure, self.results))

    @property
    def latency_ms(self) -> float:
        """The mean processing latency."""
        return self.mean(lambda result: result.processing_latency_ms.mean or 0.0)

    def last_plans(self) -> list[Plan]:
        """The plan that each run ended with."""
        return [cycles[-1].decision.plan for cycles in self.cycles]


def run(
    workload: Workload,
    policy: str,
    options: Mapping[str, Any] | None = None,
    *,
    seeds: Sequence[int] = (0, 1, 2),
    interval: str = "60 s",
    guards: GuardOptions | None = None,
    prepare: Callable[[Policy], None] = lambda policy: None,
    backlog: int = 0,
) -> Runs:
    """Run a workload under a new policy for each seed; `prepare` may teach the policy something before."""
    results, all_cycles = [], []
    for seed in seeds:
        cycles: list[Cycle] = []
        chosen = POLICIES.create(policy, options)
        prepare(chosen)
        simulation = Simulation(
            workload, policy=chosen, guards=only() if guards is None else guards, interval=interval, seed=seed,
            backlog=backlog,
        )  # fmt: skip
        with threadpool_limits(1):  # the matrices of a decision are small: threads cost more than they bring
            results.append(simulation.run(cycles.append))
        all_cycles.append(tuple(cycles))
    return Runs(tuple(results), tuple(all_cycles))


def under(
    workload: Workload, *, trace: Trace | None = None, slo: Slo | None = None, start: Plan | None = None, **job: Any
) -> Workload:
    """The workload with another load, target, first plan or other parts of its job."""
    changed: Job = replace(workload.job, start=start or workload.job.start, **job)
    return replace(workload, job=changed, trace=trace or workload.trace, slo=slo or workload.slo)
