"""What PSPS's tables share: its four metrics, and the runs of the systems that it compares.

Nothing in these jobs is random but the raw tweets and the DNS queries; one run is enough for all others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from statistics import fmean, median
from typing import Any

from penstock.model import Cycle, Plan
from penstock.papers.catalogue import workload
from penstock.papers.psps.workloads import RAW_DEVIATION, dns, raw_tweets
from penstock.papers.runs import Runs, run, under
from penstock.papers.traces import over_traces
from penstock.report.item import Row, Series
from penstock.runs.workload import Workload
from penstock.simulator.job import Grouping

TD, TIMEOUT, QUEUE_SIZE = 30.0, 30.0, 100_000
"""The paper's choice: interval in s, age at which an event has failed in s, events in a queue."""
SEEDS = (0, 1, 2, 3, 4)
"""Seeds of the streams that are random; figures are medians over them."""


@dataclass(frozen=True, slots=True)
class Metrics:
    """A row of the paper's tables: 1 - r / r_over, |in - out| / in, processed of received events, mean latency."""

    saved: float
    degradation: float
    processed: float
    latency_ms: float


PSPS = Metrics(0.5617, 0.1831, 0.9987, 2098.91)
"""The row that stands in all of the paper's tables on Twitter: its own system with its own choice of parameters."""


def metrics(runs: Runs, every: int = 1) -> Metrics:
    """The medians over all runs; degradation by intervals of `every` decisions."""
    return Metrics(
        saved=median(result.saved_resources for result in runs.results),
        degradation=median(degradation(cycles, every) for cycles in runs.cycles),
        processed=median(result.processed_ratio for result in runs.results),
        latency_ms=median(result.processing_latency_ms.mean or 0.0 for result in runs.results),
    )


def degradation(cycles: Sequence[Cycle], every: int = 1) -> float:
    """The mean over intervals of |in - out| / in; an interval has `every` decisions.

    The paper does not say whether it sums up before it divides. It cannot have: one replica left 0.668 of all events
    unprocessed in Table VIII, so sums would give at least that; 0.5153 is printed.
    """
    intervals = (came_and_left(*cycles[first : first + every]) for first in range(0, len(cycles), every))
    return fmean(abs(came - left) / came for came, left in intervals if came > 0)


def came_and_left(*cycles: Cycle) -> tuple[float, float]:
    """Events that entered and left the job up to these decisions, from those before."""
    samples = [sample for cycle in cycles for sample in cycle.samples]
    came = sum(sample.offered_rate * sample.seconds for sample in samples)
    left = sum((sample.throughput or 0.0) * sample.seconds for sample in samples)
    return came, left


@cache
def psps(name: str = "twitter", td: float = TD, timeout: float | None = TIMEOUT, queue: int = QUEUE_SIZE) -> Runs:
    chosen = with_engine(workload(name), timeout_seconds=timeout, queue_records=queue, grouping_seconds=td)
    return decided(chosen, td)


@cache
def psps_grouped(
    grouping: Grouping, name: str = "twitter", timeout: float | None = TIMEOUT, queue: int = QUEUE_SIZE
) -> Runs:
    """PSPS with another grouping than its own."""
    return decided(grouped(with_engine(workload(name), timeout_seconds=timeout, queue_records=queue), grouping))


@cache
def psps_thinned(part: float) -> Runs:
    """PSPS under this part of its stream, at any time."""
    chosen = workload("twitter")
    return decided(under(chosen, trace=chosen.trace.scaled(part * chosen.trace.peak)))


def grouped(chosen: Workload, grouping: Grouping) -> Workload:
    behaviours = {name: replace(b, grouping=grouping) for name, b in chosen.job.behaviours.items()}
    return under(chosen, behaviours=behaviours)


def shuffled(chosen: Workload) -> Workload:
    """The workload with Storm's own grouping: an event goes to any replica."""
    return grouped(chosen, Grouping.SHUFFLE)


@cache
def psps_on_raw_tweets(deviation: float = RAW_DEVIATION) -> Runs:
    streams, options = (raw_tweets(seed, deviation) for seed in SEEDS), {"window_seconds": TD}
    return over_traces(workload("twitter_raw"), streams, "psps", options, interval=f"{TD:g} s")


@cache
def psps_on_dns() -> Runs:
    return over_traces(workload("dns"), map(dns, SEEDS), "psps", {"window_seconds": TD}, interval=f"{TD:g} s")


@cache
def storm_on_dns() -> Runs:
    """Run one replica of each operator, with which the job begins."""
    return over_traces(shuffled(workload("dns")), map(dns, SEEDS), "static", interval=f"{TD:g} s")


@cache
def storm_on_queries(mean: float, deviation: float, every: float) -> Runs:
    """Run one replica of each operator of the DNS application under another stream, of one seed."""
    return over_traces(shuffled(workload("dns")), [dns(0, mean, deviation, every)], "static", interval=f"{TD:g} s")


@cache
def storm(replicas: int, name: str = "twitter", timeout: float | None = None) -> Runs:
    """Run a fixed number of replicas, without a time-out: the paper's 197 s of latency with one replica show none."""
    chosen = shuffled(with_engine(workload(name), timeout_seconds=timeout))
    plan = Plan(dict.fromkeys(chosen.job.topology.names, replicas))
    return run(under(chosen, start=plan), "static", seeds=(0,), interval=f"{TD:g} s")


@cache
def storm_on_raw_tweets(deviation: float = RAW_DEVIATION) -> Runs:
    """Run one replica of each operator, with which the job begins."""
    patient = shuffled(with_engine(workload("twitter_raw"), timeout_seconds=None))
    streams = (raw_tweets(seed, deviation) for seed in SEEDS)
    return over_traces(patient, streams, "static", interval=f"{TD:g} s")


DABS_INTERVAL = 3
"""DABS-Storm decides every 10 s: this many decisions are an interval of PSPS."""


@cache
def dabs(restart_seconds: float | None = None) -> Runs:
    """Run DABS-Storm as its authors set it: a measurement and a decision every 10 s, over a window of 60 s.

    Restarts take as long as the workload says, or as given.
    """
    chosen = shuffled(workload("twitter"))
    if restart_seconds is not None:
        chosen = with_engine(chosen, downtime_seconds=restart_seconds)
    return run(chosen, "dabs", seeds=(0,), interval="60 s")


def decided(chosen: Workload, td: float = TD) -> Runs:
    return run(chosen, "psps", {"window_seconds": td}, seeds=(0,), interval=f"{td:g} s")


def with_engine(chosen: Workload, **engine: Any) -> Workload:
    return under(chosen, engine=replace(chosen.job.engine, **engine))


def rows(
    label: str, paper: Metrics, ours: Metrics | None, spark: Metrics | None = None, calibrated: Sequence[str] = ()
) -> list[Row]:
    """One row of the paper's table, figure by figure; `calibrated` names those from which constants were set."""
    return [
        Row(
            f"{label}: {words}",
            getattr(paper, name),
            getattr(ours, name, None),
            unit,
            getattr(spark, name, None),
            calibrated=name in calibrated,
        )
        for name, words, unit in (
            ("saved", "saved resources", ""),
            ("degradation", "throughput degradation", ""),
            ("processed", "processed events", ""),
            ("latency_ms", "latency", "ms"),
        )
    ]


def replicas(label: str, runs: Runs) -> Series:
    """All active replicas over time."""
    return _line(label, runs, lambda cycle: float(cycle.before.total))


def throughput(label: str, runs: Runs, every: int = 1) -> Series:
    """Events per second that left the job in each interval of `every` decisions."""
    return _rates(label, runs, every, 1)


def input_rate(runs: Runs) -> Series:
    return _rates("input", runs, 1, 0)


def _rates(label: str, runs: Runs, every: int, which: int) -> Series:
    cycles = runs.cycles[0]
    intervals = [cycles[first : first + every] for first in range(0, len(cycles), every)]
    rates = (came_and_left(*interval)[which] / sum(map(_seconds, interval)) for interval in intervals)
    return Series(label, tuple(interval[-1].t for interval in intervals), tuple(rates))


def _line(label: str, runs: Runs, figure: Callable[[Cycle], float]) -> Series:
    """A figure of each interval, at its end, in the first of the runs."""
    cycles = runs.cycles[0]
    return Series(label, tuple(cycle.t for cycle in cycles), tuple(map(figure, cycles)))


def _seconds(cycle: Cycle) -> float:
    return sum(sample.seconds for sample in cycle.samples)
