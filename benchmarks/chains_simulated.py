"""Chains that form and part, always and never, in the simulator, under a load that goes up and down.

Three operators over a topic of six partitions, with executors of six slots that take as long to come and to leave as
they do on Spark. At a light load all three run in the six tasks that read. At the peak these do not carry all three
but still carry the first: parted, the others get instances of their own behind it. Were all three to grow together, the
tasks that read would hold their slots besides. The policy is `predictive` each time: free to form and part chains, with
all operators tied to one number, and with instances of its own for each, and tasks that only read. A change costs
nothing here: on Spark both plans hold their slots for a moment. Means over seeds. `chains_load` runs the same on Spark.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from statistics import mean
from typing import Any

from benchmarks.spark_contest import GUARDS
from penstock.load.trace import Trace
from penstock.model import Operator, Slo, Topology
from penstock.runs.simulation import Simulation
from penstock.runs.workload import Workload
from penstock.simulator.conditions import SPARK
from penstock.simulator.executors import Executors
from penstock.simulator.job import Behaviour, Change, Engine, Job

SERVICE_MS = {"parse": 8.0, "enrich": 4.0, "publish": 4.0}
READ_MS, HOP_MS = 0.01, 3.0
PARTITIONS, MOST, SLOTS_EACH, MOST_EXECUTORS = 6, 12, 6, 6
ARRIVE_SECONDS, LEAVE_SECONDS = 25.0, 4.0
"""On two cores several executors that start at once take so long, and one that is released so long to go."""
LOW, HIGH, SECONDS = 60.0, 400.0, 150.0
COMPRESS = 5.0
"""An executor that takes 25 s to come takes two minutes of a load that is compressed so much. Compressed twenty times,
as other benchmarks are, it would take eight, and be asked for on what is thought of a quarter of an hour."""
CURVE = ((0.0, LOW), (0.15, LOW), (0.35, HIGH), (0.65, HIGH), (0.8, LOW), (1.0, LOW))
"""The load, by the part of the time that has passed."""
SLO = Slo(event_latency="10 s")
"""What the demo allows on a cluster: less is missed while executors start, whatever the plan."""
SEEDS = (0, 1, 2, 3, 4)
FREE, FUSED, PARTED = "forming and parting", "always fused", "always parted"
WAYS = (FREE, FUSED, PARTED)


@dataclass(frozen=True)
class Row:
    way: str
    core_seconds: float
    least: float
    greatest: float
    outside_percent: float
    changes: float


def rows() -> Iterator[Row]:
    for way in WAYS:
        results = [_simulation(way, seed).run() for seed in SEEDS]
        paid = [result.core_seconds for result in results]
        yield Row(
            way, mean(paid), min(paid), max(paid), 100 * mean(result.violation_ratio for result in results),
            mean(result.rescales for result in results),
        )  # fmt: skip


def _simulation(way: str, seed: int) -> Simulation:
    conditions = replace(SPARK, executors=Executors(SLOTS_EACH, ARRIVE_SECONDS, LEAVE_SECONDS))
    guards: Any = {**GUARDS, "quota": {"slots": MOST_EXECUTORS * SLOTS_EACH}}
    return Simulation(
        Workload(_job(way), SLO, load(), "a line of three operators", "this benchmark"), policy="predictive",
        policy_options={"compress": COMPRESS}, guards=guards, interval="2 s", step_seconds=0.5, seed=seed,
        conditions=conditions,
    )  # fmt: skip


def load() -> Trace:
    return Trace("up and down", tuple(part * SECONDS for part, _ in CURVE), tuple(rate for _, rate in CURVE))


def _job(way: str) -> Job:
    tie = "all" if way == FUSED else None
    service = dict(SERVICE_MS)
    if way == PARTED:
        service = {"read": READ_MS, **service}
    operators = [
        Operator("read", min=PARTITIONS, max=PARTITIONS)
        if name == "read"
        else Operator(
            name, max=MOST, tie=tie, chained=way != PARTED and name != "parse",
            readers=PARTITIONS if way != PARTED and name == "parse" else 0,
        )
        for name in service
    ]  # fmt: skip
    behaviours = {name: Behaviour(service_ms=ms, variability=0.5, hop_ms=HOP_MS) for name, ms in service.items()}
    return Job(way, Topology.chain(*operators), behaviours, engine=Engine(change=Change.LIVE))
