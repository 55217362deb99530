"""How well the simulator foretells a job in real time whose operators share their instances, or do not.

The twin learns service times and what a hop takes from the first half of the windows of a fused and of a parted plan,
under a light load. It then has to foretell the latency of the second halves, that of a mixed plan which it has not
seen, and the most records a second of all three, which it has not seen either.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from statistics import median

from benchmarks.chains_load import pipeline
from benchmarks.chains_simulated import FREE
from penstock.guards import only
from penstock.load.curves import constant
from penstock.model import Cycle, Execution, Plan, Sample, Slo
from penstock.performance.latency_mixture import together
from penstock.runs.live import NOWHERE, LiveRun
from penstock.runs.twin import twin, under_fixed_plan
from penstock.simulator.job import Job
from penstock.testbed.place import LocalPlace, opened

LIGHT, SECONDS = 40.0, 60.0
FULL, FULL_SECONDS = 900.0, 30.0
PLANS = {"fused": (1, 1, 1), "parted": (2, 1, 2), "mixed": (1, 2, 2)}
LEARNT_FROM = ("fused", "parted")
SLO = Slo(event_latency="2 s")
SERVICE_MS = {"parse": 3.0, "enrich": 4.0, "publish": 3.0}
NAMES, MOST = tuple(SERVICE_MS), 5
JOB = partial(pipeline, way=FREE, service_ms=SERVICE_MS, most=MOST)


@dataclass(frozen=True)
class Foretold:
    plan: str
    figure: str
    measured: float
    foretold: float
    error: float


def rows() -> Iterator[Foretold]:
    plans = {name: Plan(dict(zip(NAMES, k, strict=True))) for name, k in PLANS.items()}
    with opened("realtime") as place:
        light = {name: _windows(place, plan, LIGHT, SECONDS) for name, plan in plans.items()}
        full = {name: _windows(place, plan, FULL, FULL_SECONDS) for name, plan in plans.items()}
    job = _twin([window for name in LEARNT_FROM for window in light[name][: len(light[name]) // 2]])
    for name, plan in plans.items():
        later = light[name][len(light[name]) // 2 :]
        latency = together([(s.throughput or 0.0, s.processing_latency_ms) for s in later if s.processing_latency_ms])
        ours = under_fixed_plan(job, plan, constant(LIGHT, SECONDS), SLO).processing_latency_ms.mean or 0.0
        yield _row(name, "processing latency, ms, mean", latency.mean or 0.0, ours)
        most = median(window.throughput or 0.0 for window in full[name])
        ours = FULL * under_fixed_plan(job, plan, constant(FULL, 300.0), SLO).processed_ratio
        yield _row(name, "most records/s", most, ours)


def _windows(place: LocalPlace, plan: Plan, rate: float, seconds: float) -> list[Sample]:
    seen: list[Sample] = []

    def on_cycle(cycle: Cycle) -> None:
        seen.extend(sample for sample in cycle.samples if not sample.warm_up)

    LiveRun(
        place=place, pipeline=JOB, values=lambda ids: [b"%d" % i for i in ids],
        trace=constant(rate, seconds), slo=SLO, policy="static", guards=only(), plan=plan, interval="3 s", batch="2 s",
        chaining=True,
    ).run(on_cycle)  # fmt: skip
    return seen


def _twin(windows: list[Sample]) -> Job:
    topology = JOB(NOWHERE, NOWHERE).topology(chained=NAMES[1:], readers={NAMES[0]: 1})
    job = twin("line", topology, windows, Execution.CONCURRENT, 2.0)
    assert job is not None, "no window tells the service times"
    return job


def _row(plan: str, figure: str, measured: float, foretold: float) -> Foretold:
    return Foretold(plan, figure, round(measured, 1), round(foretold, 1), round(abs(foretold / measured - 1), 3))
