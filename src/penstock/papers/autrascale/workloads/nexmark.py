"""Two Nexmark queries on Flink, each a source and a window operator: Query 5 slides, Query 11 follows sessions."""

from __future__ import annotations

from penstock.load.curves import steps
from penstock.model import Actuation, Operator, Plan, Slo, Topology
from penstock.runs.workload import RunsOn, Workload
from penstock.simulator.job import Behaviour, Change, Engine, Job

CHAIN = ("source", "window")
STEP_SECONDS = 3600.0
KEYS = 20_000
"""Of each window's state, as in our measurements of the same queries on Spark; the paper says nothing of it."""

# From the paper: the two operators, the rates, the targets, and where throughput optimisation ends. Derived: one
# source keeps up, and both rates are such that the walk ends at (1, 18) and (1, 11) whether a parent's output is
# counted at its rounded parallelism (AuTraScale) or not (DS2), which leaves the source no more than a few hundredths
# of room. At most 40 instances, a slot for each core of two workers (AuTraScale+, section V-A). Chosen: `hop_ms`, the
# time until a window may close, below the second paper's targets of 100 ms; variability, buffers and channels such that
# the base misses its target at each rate of both papers (a model is trained at the lower one, so there was something to
# train), and so do many instances of both, while two sources and some more windows meet it; downtime as in WordCount,
# and half of its noise: a walk that ends within a few hundredths of the next instance must not stumble over a rounding.
_ENGINE = Engine(change=Change.RESTART, downtime_seconds=20.0, queue_records=16_000, noise=0.01)


def _query(number: int, source: Behaviour, window: Behaviour, slo: Slo, low: float, high: float, kind: str) -> Workload:
    optimum = {5: 18, 11: 11}[number]
    return Workload(
        job=Job(
            name=f"nexmark_q{number}",
            topology=Topology.chain(
                *(Operator(name, max=40, stateful=name == "window", actuation=Actuation.RESTART) for name in CHAIN)
            ),
            behaviours={"source": source, "window": window},
            engine=_ENGINE,
            over_provisioned=Plan({"source": 4, "window": 30}),
        ),
        slo=slo,
        trace=steps((low, high), STEP_SECONDS, "step"),
        summary=f"Nexmark Query {number}, a {kind} window: 2 operators, throughput optimum (1, {optimum}) "
        f"at {high / 1e3:g}k records/s",
        source="AuTraScale (2021), section V, Fig. 5 and 8; AuTraScale+ (2024)",
        runs_on=(RunsOn.SIMULATOR, RunsOn.NATIVE),
    )


QUERY_5 = _query(
    5,
    Behaviour(service_ms=1 / 31, variability=8000.0),
    Behaviour(service_ms=1 / 1.79, variability=500.0, coordination=0.002, hop_ms=60.0, channel_ms=0.6, state_keys=KEYS),
    Slo(processing_latency="500 ms"),
    low=20e3,
    high=30e3,
    kind="sliding",
)

QUERY_11 = _query(
    11,
    Behaviour(service_ms=1 / 103, variability=4000.0),
    Behaviour(service_ms=1 / 9.75, variability=500.0, coordination=0.002, hop_ms=50.0, channel_ms=0.6, state_keys=KEYS),
    Slo(processing_latency="150 ms"),
    low=80e3,
    high=100e3,
    kind="session",
)

WORKLOADS = (QUERY_5, QUERY_11)
