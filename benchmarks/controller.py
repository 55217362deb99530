"""What the controller costs a driver: processor time of a cycle, and memory over a hundred thousand of them.

One loop with all guards, a forecaster and a SQLite store steers ten operators whose load wanders. A live job has a
cycle every ten seconds, so a hundred thousand of them are eleven days.
"""

from __future__ import annotations

import resource
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from penstock.control.loop import Loop, Settings
from penstock.forecast import FORECASTERS
from penstock.guards import chain
from penstock.model import Latency, OperatorSample, Plan, Sample, Slo, Topology
from penstock.policies import POLICIES
from penstock.stores.sql import SqlStore

CYCLES = 100_000
INTERVAL_SECONDS = 10.0
OPERATORS = tuple(f"operator{i}" for i in range(10))


@dataclass(frozen=True)
class Cost:
    policy: str
    cycles: int
    cpu_ms_per_cycle: float
    share_of_a_core: float
    grown_mb: float
    store_mb: float


class Wandering:
    """A job without a cluster: monitor, actuator and clock."""

    def __init__(self) -> None:
        self.t = 0.0
        self.in_force = Plan(dict.fromkeys(OPERATORS, 4))
        self._random = np.random.default_rng(1)
        self._rate = 1_000.0

    def now(self) -> float:
        return self.t

    def plan(self) -> Plan:
        return self.in_force

    def apply(self, plan: Plan) -> None:
        self.in_force = plan

    def read(self) -> Sequence[Sample]:
        self.t += INTERVAL_SECONDS
        self._rate = min(3_000.0, max(200.0, self._rate + float(self._random.normal(0.0, 40.0))))
        records = self._rate * INTERVAL_SECONDS
        return [
            Sample(
                t=self.t - INTERVAL_SECONDS,
                seconds=INTERVAL_SECONDS,
                operators={
                    name: OperatorSample(self.in_force[name], records, records, 0.002 * records, queue=0.0)
                    for name in OPERATORS
                },
                input_rate=self._rate,
                throughput=self._rate,
                backlog=0.0,
                event_latency_ms=Latency(mean=100.0, p50=90.0, p95=200.0, p99=300.0),
            )
        ]


def rows() -> Iterator[Cost]:
    for policy in ("ds2", "autrascale"):
        with tempfile.TemporaryDirectory() as folder:
            yield _measure(policy, Path(folder) / "history.db", CYCLES if policy == "ds2" else CYCLES // 20)


def _measure(policy: str, file: Path, cycles: int) -> Cost:
    job = Wandering()
    store = SqlStore(f"sqlite:///{file}", "bench")
    loop = Loop(
        topology=Topology.chain(*OPERATORS),
        slo=Slo(event_latency="500 ms"),
        policy=POLICIES.create(policy),
        monitor=job,
        actuator=job,
        store=store,
        clock=job,
        guards=chain(),
        forecaster=FORECASTERS.create("holt"),
        settings=Settings(interval_seconds=INTERVAL_SECONDS),
    )
    for _ in range(1_000):  # windows are full, everything is compiled
        loop.run_once()
    before, began = _memory_mb(), time.process_time()
    for _ in range(cycles):
        loop.run_once()
    seconds = (time.process_time() - began) / cycles
    grown = _memory_mb() - before
    store.close()
    return Cost(
        policy, cycles, round(1e3 * seconds, 3), round(seconds / INTERVAL_SECONDS, 5), round(grown, 1),
        round(file.stat().st_size / 1e6, 1),
    )  # fmt: skip


def _memory_mb() -> float:
    """The most that this process ever had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
