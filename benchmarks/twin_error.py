"""How well the simulator foretells a job on each engine, given the service times that were measured on it.

The demo's clicks run for a while under one plan and a steady load. The first half of the windows tells the twin the
service times; throughput and latency of the second half are what it has to foretell.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from penstock.demo.clicks_on_spark import clicks, pipeline
from penstock.guards import only
from penstock.load.curves import constant
from penstock.model import Cycle, Plan, Sample, Slo
from penstock.performance.latency_mixture import together
from penstock.runs.live import NOWHERE, LiveRun
from penstock.runs.twin import twin, under_fixed_plan
from penstock.testbed.place import opened as stage

RATE, SECONDS = 200.0, 50.0
PLANS = {  # real time first: Kafka's connector has to be there when the JVM starts
    "realtime": Plan({"parse": 1, "enrich": 1, "sessions": 2, "publish": 1}),
    "microbatch": Plan({"parse": 4, "enrich": 4, "sessions": 4, "publish": 4}),
}


@dataclass(frozen=True)
class Foretold:
    engine: str
    figure: str
    measured: float
    foretold: float
    error: float


def rows() -> Iterator[Foretold]:
    for engine, plan in PLANS.items():
        yield from _compare(engine, plan)


def _compare(engine: str, plan: Plan) -> Iterator[Foretold]:
    seen: list[Sample] = []

    def on_cycle(cycle: Cycle) -> None:
        seen.extend(sample for sample in cycle.samples if not sample.warm_up)

    slo, trace = Slo(event_latency="10 s"), constant(RATE, SECONDS)
    with stage(engine) as place:
        LiveRun(
            place=place, pipeline=partial(pipeline, most=7), values=clicks, trace=trace, slo=slo, policy="static",
            guards=only(), plan=plan, interval="3 s", batch="2 s",
        ).run(on_cycle)  # fmt: skip
        execution = place.execution
    half = len(seen) // 2
    job = twin("clicks", pipeline(NOWHERE, NOWHERE).topology(), seen[:half], execution, 2.0)
    assert job is not None, "no window tells the service times"
    foretold = under_fixed_plan(job, plan, trace, slo)
    later = seen[half:]
    seconds = sum(sample.seconds for sample in later)
    throughput = sum((sample.throughput or 0.0) * sample.seconds for sample in later) / seconds
    event = together([((s.throughput or 0.0) * s.seconds, s.event_latency_ms) for s in later if s.event_latency_ms])
    for figure, measured, ours in (
        ("throughput, records/s", throughput, foretold.processed_ratio * RATE),
        ("event latency, ms, mean", event.mean or 0.0, foretold.event_latency_ms.mean or 0.0),
    ):
        yield Foretold(engine, figure, round(measured, 1), round(ours, 1), round(abs(ours / measured - 1), 3))
