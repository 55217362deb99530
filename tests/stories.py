"""What the scenarios share: run a workload under a policy on the simulator, and read its cycles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from penstock.cli.workloads import workload
from penstock.guards import GuardOptions, only
from penstock.load.curves import constant
from penstock.model import Cycle, Latency, Plan, Sample, Slo
from penstock.runs.result import Result
from penstock.runs.simulation import Simulation
from penstock.runs.workload import Workload


@dataclass(frozen=True)
class Story:
    """A run from its first cycle to its result."""

    cycles: Sequence[Cycle]
    result: Result

    @property
    def changes(self) -> list[Cycle]:
        return [cycle for cycle in self.cycles if cycle.changed]

    @property
    def end(self) -> tuple[int, ...]:
        """The plan that is in force at the end."""
        return degrees(self.cycles[-1].decision.plan)

    @property
    def last(self) -> Sample:
        return self.cycles[-1].samples[-1]

    def since(self, t: float) -> list[Cycle]:
        return [cycle for cycle in self.cycles if cycle.t >= t]

    def at(self, t: float) -> Cycle:
        return next(cycle for cycle in self.cycles if cycle.t == t)


def simulated(
    chosen: Workload | str,
    policy: str,
    options: Mapping[str, Any] | None = None,
    *,
    guards: GuardOptions | None = None,
    interval: str = "60 s",
    seed: int = 0,
) -> Story:
    """Run a workload; without guards, unless some are given, so that the paper's own behaviour shows."""
    cycles: list[Cycle] = []
    result = Simulation(
        workload(chosen) if isinstance(chosen, str) else chosen,
        policy=policy,
        policy_options=options,
        guards=only() if guards is None else guards,
        interval=interval,
        seed=seed,
    ).run(cycles.append)
    return Story(cycles, result)


def steady(name: str, rate: float, seconds: float, slo: Slo | None = None) -> Workload:
    """A workload under a constant rate."""
    chosen = workload(name)
    return replace(chosen, trace=constant(rate, seconds), slo=chosen.slo if slo is None else slo)


def beginning(chosen: Workload | str, start: Plan) -> Workload:
    """A workload that begins with another plan."""
    chosen = workload(chosen) if isinstance(chosen, str) else chosen
    return replace(chosen, job=replace(chosen.job, start=start))


def degrees(plan: Plan) -> tuple[int, ...]:
    return tuple(plan.parallelism.values())


def mean(latency: Latency | None) -> float:
    assert latency is not None
    assert latency.mean is not None
    return latency.mean


def throughput(sample: Sample) -> float:
    assert sample.throughput is not None
    return sample.throughput


def backlog(sample: Sample) -> float:
    assert sample.backlog is not None
    return sample.backlog
