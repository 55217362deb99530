"""A simulated twin of a live job: the same graph, with the service times that were measured on Spark."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import linear_regression, median

from penstock.guards import only
from penstock.load.trace import Trace
from penstock.model import Execution, Latency, Plan, Sample, Slo, Topology
from penstock.performance.chained_ladder import hops
from penstock.performance.ladder import wait
from penstock.runs.result import Result
from penstock.runs.simulation import Simulation
from penstock.runs.workload import Workload
from penstock.simulator.job import Behaviour, Change, Engine, Job

LEAST_SERVICE_MS = 1e-3
USUAL_VARIABILITY = 0.5
"""Service times hardly vary on Spark, arrivals do: records wait half as long as if both were random."""
INTERVAL = "5 s"
STEP_SECONDS = 0.25
RESTART_SECONDS = 1.0
"""A change in real time takes about this long, as measured; in micro-batches it costs nothing."""


@dataclass(frozen=True, slots=True)
class Figures:
    """What a window shows of one operator: milliseconds of work for a record, and records out for one in."""

    service_ms: float
    selectivity: float


@dataclass(frozen=True, slots=True)
class Besides:
    """Milliseconds of a record's way: what service does not explain, and what theory says of waiting."""

    unexplained: float
    waits: float


def twin(
    name: str, topology: Topology, samples: Sequence[Sample], execution: Execution, batch_seconds: float
) -> Job | None:
    """The job as the simulator sees it; None if no window shows what it needs. Medians: single windows are noisy.

    What neither service nor waiting explains of the latency is laid to the hops between instances, as far as plans with
    more of them took longer; where only one number of hops was seen, all of it is. Records wait as long as theory says
    of such queues, but never longer than was measured: those that come evenly do not wait at all.
    """
    settled = [sample for sample in samples if _shows_all(sample, execution)]
    if not settled:
        return None
    figures = {operator: [_figures(operator, sample) for sample in settled] for operator in topology.names}
    service = {operator: median(f.service_ms for f in all_) for operator, all_ in figures.items()}
    concurrent = execution is Execution.CONCURRENT
    besides: dict[int, list[Besides]] = {}  # by the number of hops
    for sample in settled:
        unexplained = _mean(sample.processing_latency_ms) - _explained(sample, execution, service)
        waits = _waits(sample, topology, service) if concurrent else 0.0
        besides.setdefault(_hops(topology, sample) if concurrent else 0, []).append(Besides(unexplained, waits))
    medians = {hops: _median(each) for hops, each in besides.items()}
    least = [each.unexplained / each.waits for each in medians.values() if each.waits > 0]
    variability = min([USUAL_VARIABILITY, *least])
    entry_ms, hop_ms = _entry_and_hop(
        {hops: max(0.0, each.unexplained - variability * each.waits) for hops, each in medians.items()}
    )
    return Job(
        name=name,
        topology=topology,
        behaviours={
            operator: Behaviour(
                service_ms=max(LEAST_SERVICE_MS, service[operator]),
                selectivity=median(f.selectivity for f in figures[operator]),
                variability=variability,
                hop_ms=hop_ms,
            )
            for operator in topology.names
        },
        engine=Engine(
            execution=execution,
            change=Change.RESTART if concurrent else Change.LIVE,
            downtime_seconds=RESTART_SECONDS if concurrent else 0.0,
            batch_seconds=batch_seconds,
            entry_ms=entry_ms if concurrent else 0.0,
            batch_overhead_seconds=0.0 if concurrent else entry_ms / 1e3,
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


def _hops(topology: Topology, sample: Sample) -> int:
    """How often a record was handed on in a window, on its longest way."""
    return hops(topology, {name: operator.parallelism for name, operator in sample.operators.items()})


def _waits(sample: Sample, topology: Topology, service: Mapping[str, float]) -> float:
    """Milliseconds that a record would wait if arrivals and service were random, in front of one chain after the other;
    0 where a queue grows, which is no steady state."""
    plan = {name: operator.parallelism for name, operator in sample.operators.items()}
    waits = 0.0
    for chain in topology.chains(plan):
        work = sum((sample.operators[name].records_in or 0.0) * service[name] for name in chain)
        each = work / (sample.operators[chain[0]].records_in or 1.0)
        waits += wait(plan[chain[0]], work / 1e3 / sample.seconds / plan[chain[0]], each)
    return waits if math.isfinite(waits) else 0.0


def _median(of: Sequence[Besides]) -> Besides:
    return Besides(max(0.0, median(each.unexplained for each in of)), median(each.waits for each in of))


def _entry_and_hop(besides: Mapping[int, float]) -> tuple[float, float]:
    """What is between the milliseconds that were seen with each number of hops: a fixed part, and that of one hop.

    >>> _entry_and_hop({0: 5.0, 2: 25.0}), _entry_and_hop({3: 30.0}), _entry_and_hop({0: 5.0})
    ((5.0, 10.0), (0.0, 10.0), (5.0, 0.0))
    """
    if len(besides) == 1:
        [(count, milliseconds)] = besides.items()
        return (0.0, milliseconds / count) if count else (milliseconds, 0.0)
    slope, fixed = linear_regression(list(besides), list(besides.values()))
    return (max(0.0, fixed), slope) if slope > 0 else (median(besides.values()), 0.0)


def _mean(latency: Latency | None) -> float:
    return 0.0 if latency is None else latency.mean or 0.0


def _sum(figures: Iterable[float | None]) -> float:
    return sum(figure or 0.0 for figure in figures)
