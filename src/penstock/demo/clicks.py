"""The demo's job in the simulator: an evening with two surges, in Spark's real-time mode and in its micro-batches."""

from __future__ import annotations

import math
from dataclasses import replace

from penstock.demo.graph import GRAPH, NAME, visits
from penstock.load.trace import Trace
from penstock.model import Actuation, Execution, Operator, Plan, Slo, Topology
from penstock.runs.workload import ALSO_A_PIPELINE, RunsOn, Workload
from penstock.simulator.job import Behaviour, Change, Engine, Job

SECONDS, EVERY = 7200, 30

VARIABILITY = 800.0  # clicks come in bursts
SERVICE_MS = {"parse": 0.05, "enrich": 0.11, "sessions": 0.17, "publish": 0.08}
HOP_MS = {"parse": 5.0, "enrich": 15.0, "sessions": 15.0, "publish": 15.0}
COORDINATION = {"sessions": 0.002}


def _surge(minute: float, begins: float, rises: float, fades: float) -> float:
    """A surge rises from 0 to 1 within `rises` minutes, then falls with a mean life of `fades` minutes."""
    age = minute - begins
    if age <= 0:
        return 0.0
    climb = 0.5 - 0.5 * math.cos(math.pi * min(1.0, age / rises))
    return climb * math.exp(-max(0.0, age - rises) / fades)


def evening() -> Trace:
    """Clicks per second: a slow rise and fall, a surge when the news breaks, a larger one when it is confirmed."""
    times = [float(t) for t in range(0, SECONDS + 1, EVERY)]
    rates = []
    for t in times:
        minute = t / 60
        slow = 11e3 + 3e3 * math.sin(math.pi * minute / 120)
        ripple = 1 + 0.02 * math.sin(1.7 * minute) + 0.015 * math.sin(0.61 * minute + 1)
        rates.append(ripple * (slow + 24e3 * _surge(minute, 22, 9, 12) + 42e3 * _surge(minute, 58, 11, 11)))
    return Trace("evening", tuple(times), tuple(rates))


def sized_for(rate: float, busy: float = 0.7) -> Plan:
    """What someone who sizes by hand would choose: every operator at most so busy at this rate.

    >>> str(sized_for(evening().peak))
    'parse 5, enrich 8, sessions 13, publish 3'
    """
    return Plan({name: math.ceil(rate * share * SERVICE_MS[name] / 1e3 / busy) for name, share in visits().items()})


CLICKS = Workload(
    job=Job(
        name=NAME,
        topology=Topology(
            tuple(
                Operator(node.name, max=32, stateful=node.key is not None, actuation=Actuation.RESTART)
                for node in GRAPH
            ),
            tuple((parent, node.name) for node in GRAPH for parent in node.after),
        ),
        behaviours={
            node.name: Behaviour(
                service_ms=SERVICE_MS[node.name],
                selectivity=node.selectivity,
                variability=VARIABILITY,
                hop_ms=HOP_MS[node.name],
                coordination=COORDINATION.get(node.name, 0.0),
            )
            for node in GRAPH
        },
        # A change restarts the query from its checkpoint: 0.5 to 1.4 s of silence were measured on real-time mode.
        engine=Engine(change=Change.RESTART, downtime_seconds=1.0, queue_records=5_000, noise=0.02),
        start=Plan({"parse": 1, "enrich": 2, "sessions": 4, "publish": 1}),
        over_provisioned=sized_for(evening().peak),
    ),
    slo=Slo(event_latency="500 ms"),
    trace=evening(),
    summary="Click stream on Spark's real-time mode: 4 operators, an evening with two surges up to 56k clicks/s",
    source="Penstock's demo",
    runs_on=ALSO_A_PIPELINE,
)

BATCH_SECONDS, BATCH_OVERHEAD_SECONDS = 5.0, 0.45
"""The trigger interval, and what a micro-batch of four operators takes beside its records, as measured on Spark."""

CLICKS_IN_BATCHES = replace(
    CLICKS,
    job=replace(
        CLICKS.job,
        name=f"{NAME}_in_batches",
        # The operators of a micro-batch follow each other on the same slots; a change takes effect at the next batch.
        engine=Engine(
            execution=Execution.SEQUENTIAL, batch_seconds=BATCH_SECONDS,
            batch_overhead_seconds=BATCH_OVERHEAD_SECONDS, noise=CLICKS.job.engine.noise,
        ),
        start=Plan(dict.fromkeys(SERVICE_MS, 6)),
        over_provisioned=Plan(dict.fromkeys(SERVICE_MS, 32)),
    ),
    slo=Slo(event_latency="10 s"),
    summary="The same click stream in Spark's micro-batches of 5 s: 4 operators that share their slots",
    runs_on=(RunsOn.SIMULATOR,),
)  # fmt: skip
