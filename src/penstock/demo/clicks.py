"""Clicks of a news site through an evening with two surges, on Spark's real-time mode: the job of the demo."""

from __future__ import annotations

import math
from itertools import pairwise

from penstock.load.trace import Trace
from penstock.model import Actuation, Operator, Plan, Slo, Topology
from penstock.runs.workload import ALSO_A_PIPELINE, Workload
from penstock.simulator.job import Behaviour, Change, Engine, Job

CHAIN = ("parse", "enrich", "sessions", "publish")
SECONDS, EVERY = 7200, 30

# Clicks come in bursts, hence the variability; one click in ten is a robot's and is dropped by parse.
BEHAVIOURS = {
    "parse": Behaviour(service_ms=0.05, selectivity=0.9, variability=800.0, hop_ms=5.0),
    "enrich": Behaviour(service_ms=0.11, variability=800.0, hop_ms=15.0),
    "sessions": Behaviour(service_ms=0.17, selectivity=0.5, variability=800.0, hop_ms=15.0, coordination=0.002),
    "publish": Behaviour(service_ms=0.08, variability=800.0, hop_ms=15.0),
}


def _surge(minute: float, begins: float, rises: float, fades: float) -> float:
    """From 0 to 1 within `rises` minutes of a beginning, then away with a mean life of `fades` minutes."""
    age = minute - begins
    if age <= 0:
        return 0.0
    climb = 0.5 - 0.5 * math.cos(math.pi * min(1.0, age / rises))
    return climb * math.exp(-max(0.0, age - rises) / fades)


def evening() -> Trace:
    """Clicks per second: a slow tide, a surge when the news breaks, a larger one when it is confirmed."""
    times = [float(t) for t in range(0, SECONDS + 1, EVERY)]
    rates = []
    for t in times:
        minute = t / 60
        tide = 11e3 + 3e3 * math.sin(math.pi * minute / 120)
        ripple = 1 + 0.02 * math.sin(1.7 * minute) + 0.015 * math.sin(0.61 * minute + 1)
        rates.append(ripple * (tide + 24e3 * _surge(minute, 22, 9, 12) + 42e3 * _surge(minute, 58, 11, 11)))
    return Trace("evening", tuple(times), tuple(rates))


def sized_for(rate: float, busy: float = 0.7) -> Plan:
    """What someone who sizes by hand would choose: every operator at most so busy at this rate.

    >>> str(sized_for(evening().peak))
    'parse 5, enrich 8, sessions 13, publish 3'
    """
    parallelism = {}
    for name in CHAIN:
        parallelism[name] = math.ceil(rate * BEHAVIOURS[name].service_ms / 1e3 / busy)
        rate *= BEHAVIOURS[name].selectivity_to("")
    return Plan(parallelism)


CLICKS = Workload(
    job=Job(
        name="clicks",
        topology=Topology(
            tuple(Operator(name, max=32, stateful=name == "sessions", actuation=Actuation.RESTART) for name in CHAIN),
            tuple(pairwise(CHAIN)),
        ),
        behaviours=BEHAVIOURS,
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

WORKLOADS = (CLICKS,)
