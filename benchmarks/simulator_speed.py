"""How many times faster than real time the simulator runs, and how that depends on the number of operators.

Steps of 1 s, ds2 with a decision a minute, CPU time of one core. Compilation is done before the clock starts.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

from penstock.guards import GuardOptions, only
from penstock.load.curves import daily
from penstock.model import Operator, Plan, Slo, Topology
from penstock.policies.ds2 import Ds2
from penstock.runs.simulation import Simulation
from penstock.runs.workload import Workload
from penstock.simulator.job import Behaviour, Job

OPERATORS = (5, 10, 20, 50, 100)
DAYS = 3.0
LOW, HIGH = 2_000.0, 20_000.0  # records a second at midnight and at noon
SERVICE_MS = 0.2
REPEATS = 3


@dataclass(frozen=True)
class Row:
    """`microseconds_per_operator` of CPU for each simulated minute: flat where the cost is linear."""

    operators: int
    guards: str
    times_real_time: float
    microseconds_per_operator: float
    rescales: int


def job(operators: int) -> Workload:
    """A chain whose operators need one to five instances over the day."""
    names = [f"op{i}" for i in range(operators)]
    topology = Topology.chain(*(Operator(name, max=40) for name in names))
    behaviours = {name: Behaviour(service_ms=SERVICE_MS) for name in names}
    simulated = Job("chain", topology, behaviours, start=Plan(dict.fromkeys(names, 4)))
    return Workload(simulated, Slo(processing_latency="1 s"), daily(LOW, HIGH, DAYS), "a chain", "none")


def measure(operators: int, guards: GuardOptions | None) -> Row:
    best = float("inf")
    for _ in range(REPEATS):
        simulation = Simulation(job(operators), policy=Ds2(), guards=guards)
        began = time.process_time()
        result = simulation.run()
        best = min(best, time.process_time() - began)
    return Row(
        operators,
        "on" if guards is None else "off",
        result.seconds / best,
        1e6 * best / (result.seconds / 60.0) / operators,
        result.rescales,
    )


def rows() -> Iterator[Row]:
    Simulation(job(2), policy=Ds2()).run()  # compiles
    for operators in OPERATORS:
        yield measure(operators, only())
    yield measure(5, None)
