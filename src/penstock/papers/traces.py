"""Runs the same job and policy over several streams, for papers in which only the stream is random."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

from penstock.load.trace import Trace
from penstock.model import Cycle, Latency, Plan, Sample
from penstock.papers.runs import Runs, run, under
from penstock.report.item import Series
from penstock.runs.workload import Workload


def over_traces(
    workload: Workload,
    traces: Iterable[Trace],
    policy: str,
    options: Mapping[str, Any] | None = None,
    *,
    start: Plan | None = None,
    interval: str = "60 s",
) -> Runs:
    """Run the job once for each trace. The results are those that `run` returns for several seeds."""
    each = [
        run(under(workload, trace=trace, start=start), policy, options, seeds=(0,), interval=interval)
        for trace in traces
    ]
    return Runs(tuple(runs.results[0] for runs in each), tuple(runs.cycles[0] for runs in each))


def samples_of(cycles: Iterable[Cycle]) -> list[Sample]:
    """All measurements of one run, in the order in which they were made."""
    return [sample for cycle in cycles for sample in cycle.samples]


def mean_ms(latency: Latency | None) -> float:
    """The mean of a latency for a chart, which shows 0 where no record left the job."""
    return 0.0 if latency is None or latency.mean is None else latency.mean


def latency_of(sample: Sample) -> float:
    return mean_ms(sample.processing_latency_ms)


def per_minute(label: str, samples: Sequence[Sample], values: Sequence[float]) -> Series:
    """Values of successive measurements as a line over minutes, averaged over each minute."""
    minutes: dict[int, list[float]] = {}
    for sample, value in zip(samples, values, strict=True):
        minutes.setdefault(int((sample.end - 1e-6) // 60.0) + 1, []).append(value)
    return Series(label, tuple(float(minute) for minute in minutes), tuple(fmean(each) for each in minutes.values()))
