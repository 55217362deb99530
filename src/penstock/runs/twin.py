"""A simulated twin of a live job: the same graph, with the service times that were measured on Spark."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from penstock.guards import only
from penstock.load.trace import Trace
from penstock.model import Execution, Latency, Plan, Sample, Slo, Topology
from penstock.runs.result import Result
from penstock.runs.simulation import Simulation
from penstock.runs.workload import Workload
from penstock.simulator.job import Behaviour, Change, Engine, Job

LEAST_SERVICE_MS = 1e-3
INTERVAL = "5 s"
STEP_SECONDS = 0.25
RESTART_SECONDS = 1.0
"""A change in real time takes about this long, as measured; in micro-batches it costs nothing."""


@dataclass(frozen=True, slots=True)
class Figures:
    """What a window shows of one operator: milliseconds of work for a record, and records out for one in."""

    service_ms: float
    selectivity: float


def twin(
    name: str, topology: Topology, samples: Sequence[Sample], execution: Execution, batch_seconds: float
) -> Job | None:
    """The job as the simulator sees it; None if no window shows what it needs. Medians: single windows are noisy."""
    settled = [sample for sample in samples if _shows_all(sample, execution)]
    if not settled:
        return None
    figures = {operator: [_figures(operator, sample) for sample in settled] for operator in topology.names}
    service = {operator: median(f.service_ms for f in all_) for operator, all_ in figures.items()}
    besides = max(0.0, median(_mean(s.processing_latency_ms) - _explained(s, execution, service) for s in settled))
    concurrent = execution is Execution.CONCURRENT
    return Job(
        name=name,
        topology=topology,
        behaviours={
            operator: Behaviour(
                service_ms=max(LEAST_SERVICE_MS, service[operator]),
                selectivity=median(f.selectivity for f in figures[operator]),
                variability=0.5,  # service times hardly vary here, arrivals do
                hop_ms=besides / max(1, _hops(topology)) if concurrent else 0.0,
            )
            for operator in topology.names
        },
        engine=Engine(
            execution=execution,
            change=Change.RESTART if concurrent else Change.LIVE,
            downtime_seconds=RESTART_SECONDS if concurrent else 0.0,
            batch_seconds=batch_seconds,
            batch_overhead_seconds=0.0 if concurrent else besides / 1e3,
        ),
    )


def under_fixed_plan(job: Job, plan: Plan, trace: Trace, slo: Slo) -> Result:
    """What the simulator expects of the twin under a plan that never changes."""
    fixed = Job(job.name, job.topology, job.behaviours, job.engine, start=plan, over_provisioned=plan)
    return Simulation(
        workload=Workload(job=fixed, slo=slo, trace=trace, summary="", source=""),
        policy="static",
        guards=only(),
        interval=INTERVAL,
        step_seconds=STEP_SECONDS,
    ).run()


def _shows_all(sample: Sample, execution: Execution) -> bool:
    concurrent = execution is Execution.CONCURRENT
    known = all(
        o.records_in and o.useful_seconds is not None and (concurrent or o.latency_ms is not None)
        for o in sample.operators.values()
    )
    return not sample.warm_up and known and bool(sample.throughput) and sample.processing_latency_ms is not None


def _figures(name: str, sample: Sample) -> Figures:
    operator = sample.operators[name]
    records = operator.records_in or 1.0
    out = records if operator.records_out is None else operator.records_out
    return Figures(1e3 * (operator.useful_seconds or 0.0) / records, out / records)


def _explained(sample: Sample, execution: Execution, service: dict[str, float]) -> float:
    """Milliseconds of a record's way that the service times account for; the rest is the engine's."""
    if execution is Execution.CONCURRENT:
        return sum(service.values())
    return _sum(operator.latency_ms for operator in sample.operators.values())


def _hops(topology: Topology) -> int:
    """Edges on the longest path; in the simulator records reach the roots immediately."""
    depth: dict[str, int] = {}
    for name in topology.order:
        depth[name] = 1 + max((depth[parent] for parent in topology.parents[name]), default=-1)
    return max(depth.values())


def _mean(latency: Latency | None) -> float:
    return 0.0 if latency is None else latency.mean or 0.0


def _sum(figures: Iterable[float | None]) -> float:
    return sum(figure or 0.0 for figure in figures)
