"""A live job without Spark: a real controller on its own thread, beside a simulated cluster that it drives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from penstock.cli.workloads import workload
from penstock.control.assembly import Steering, assemble
from penstock.control.controller import Controller
from penstock.control.ports import Store
from penstock.load.curves import steps
from penstock.model import Cycle, Plan, Sample
from penstock.simulator.cluster import SimulatedCluster
from penstock.stores.memory import MemoryStore

STEP_SECONDS = 30.0
"""Simulated seconds from one cycle to the next."""
HOURS = 10_000
"""The load doubles and falls every half hour, for as long as any test."""


class WithExecutors(SimulatedCluster):
    """A cluster of which each instance of the widest operator has an executor of its own."""

    def plan(self) -> Plan:
        plan = super().plan()
        return replace(plan, executors=plan.widest)

    def leaving(self) -> int:
        return 0

    def read(self) -> Sequence[Sample]:
        executors = self.plan().executors
        return [replace(sample, executors=executors) for sample in super().read()]


def controller(store: Store | None = None, name: str = "clicks", every: float = 0.1, **steering: Any) -> Controller:
    """Steers `clicks`; between two cycles, `every` seconds apart, half a simulated minute goes by. Not started yet."""
    job = workload("clicks")
    slo = replace(job.slo, processing_latency="400 ms")
    peak = job.trace.peak
    cluster = WithExecutors(job.job, steps(HOURS * (peak / 4, peak), 1800), slo, seed=1)
    loop = assemble(
        Steering(**{"interval": "30 s", "policy": "ds2", "forecaster": "holt", **steering}),
        topology=job.job.topology,
        slo=slo,
        monitor=cluster,
        actuator=cluster,
        clock=cluster,
        store=store or MemoryStore(),
        execution=job.job.engine.execution,
        leaving=cluster.leaving,
    )

    def run() -> Cycle:
        cluster.advance(STEP_SECONDS)
        return loop.run_once()

    made = Controller(loop, run=run, name=name)
    made.interval_seconds = every
    return made


@contextmanager
def running(made: Controller) -> Iterator[Controller]:
    made.start()
    try:
        yield made
    finally:
        made.stop()
