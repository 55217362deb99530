"""Runs of workloads in the simulator, with what tests vary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from penstock.cli.workloads import workload
from penstock.guards import only
from penstock.load.curves import constant
from penstock.model import Cycle, Plan
from penstock.runs.result import Result
from penstock.runs.simulation import Simulation
from penstock.runs.workload import Workload


def run(
    chosen: Workload,
    policy: str,
    start: Mapping[str, int] | None = None,
    interval: str = "60 s",
    options: Mapping[str, object] | None = None,
) -> tuple[Result, list[Cycle]]:
    if start is not None:
        chosen = replace(chosen, job=replace(chosen.job, start=Plan(start)))
    cycles: list[Cycle] = []
    simulation = Simulation(chosen, policy=policy, policy_options=options, guards=only(), interval=interval)
    return simulation.run(cycles.append), cycles


def at_rate(name: str, rate: float, seconds: float = 600.0) -> Workload:
    return replace(workload(name), trace=constant(rate, seconds))


def every_operator(name: str, parallelism: int) -> dict[str, int]:
    return dict.fromkeys(workload(name).job.topology.names, parallelism)
