"""Merges the samples of a window into one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from penstock.model import MissingFigureError, Observation, OperatorSample, Sample, Topology

ROUNDING = 1e-6
"""Two readings of the same moment may differ by this many seconds."""


def last_window(observation: Observation, seconds: float, may_miss: int = 0) -> tuple[Sample, ...]:
    """The samples of the last `seconds` under the plan in force; none while more than `may_miss` of them are missing.

    A sample may be longer than the window; then it is the window.
    """
    latest, change = observation.latest, observation.last_change
    start = latest.end - max(seconds, latest.seconds)
    if change is not None:
        start = max(start, change.t)
    window = observation.since(start - ROUNDING)
    covered, longest = sum(sample.seconds for sample in window), max((s.seconds for s in window), default=0.0)
    return window if window and covered >= seconds - may_miss * longest - ROUNDING else ()


def windows(samples: Sequence[Sample], seconds: float) -> tuple[Sample, ...]:
    """The samples in windows of `seconds`, counted back from the newest end; oldest first, without empty ones."""
    return tuple(map(merged, grouped(samples, seconds)))


def grouped(samples: Sequence[Sample], seconds: float) -> list[list[Sample]]:
    """The same windows, each as the samples that it has."""
    groups: dict[int, list[Sample]] = {}
    for sample in samples:
        # The rounding is less than any window: a boundary stays on its own side.
        groups.setdefault(int((samples[-1].end - sample.end + ROUNDING) // seconds), []).append(sample)
    return [groups[age] for age in sorted(groups, reverse=True)]


def merged(samples: Sequence[Sample]) -> Sample:
    """One sample for several that follow each other: counts added up, queues as they stood at the end.

    A figure that one of them lacks is None. So are latencies: percentiles cannot be added.

    >>> three = [
    ...     Sample(t=10 * i, seconds=10, input_rate=100 + i, operators={"split": OperatorSample(2, 900, queue=50 * i)})
    ...     for i in range(3)
    ... ]
    >>> whole = merged(three)
    >>> whole.seconds, whole.input_rate, whole.operators["split"].records_in, whole.operators["split"].queue
    (30, 101.0, 2700, 100)
    """
    newest, seconds = samples[-1], sum(sample.seconds for sample in samples)
    return Sample(
        t=max(0.0, newest.end - seconds),
        seconds=seconds,
        operators={
            name: _operator([sample.operators[name] for sample in samples if name in sample.operators])
            for name in newest.operators
        },
        input_rate=_input_rate(samples, seconds),
        throughput=_mean((sample.throughput for sample in samples), samples, seconds),
        backlog=newest.backlog,
        dropped=_total(sample.dropped for sample in samples),
        executors=newest.executors,
    )


def received(name: str, topology: Topology, sample: Sample) -> float:
    """Records that reached an operator: what it counted itself, else its parents' output, or for a root the input."""
    operator = sample.operators.get(name)
    if operator is not None and operator.records_from is not None:
        return sum(operator.records_from.values())
    total = 0.0
    for parent in topology.parents[name]:
        emitted = sample.operators[parent].records_out if parent in sample.operators else None
        if emitted is None:
            raise MissingFigureError("records_out", parent)
        total += emitted
    if topology.parents[name]:
        return total
    rate = sample.input_rate_of(name)
    if rate is None:
        raise MissingFigureError("input_rate", name)
    return rate * sample.seconds


def _operator(samples: Sequence[OperatorSample]) -> OperatorSample:
    newest = samples[-1]
    counted = [sample.records_from for sample in samples if sample.records_from is not None]
    sources = dict.fromkeys(parent for counts in counted for parent in counts)
    return OperatorSample(
        parallelism=newest.parallelism,
        records_in=_total(sample.records_in for sample in samples),
        records_out=_total(sample.records_out for sample in samples),
        useful_seconds=_total(sample.useful_seconds for sample in samples),
        waiting_seconds=_total(sample.waiting_seconds for sample in samples),
        queue=newest.queue,
        state_bytes=newest.state_bytes,
        state_memory_bytes=newest.state_memory_bytes,
        state_cache_hit_ratio=newest.state_cache_hit_ratio,
        records_from={p: sum(counts.get(p, 0.0) for counts in counted) for p in sources}
        if len(counted) == len(samples)
        else None,
    )


def _input_rate(samples: Sequence[Sample], seconds: float) -> float | Mapping[str, float] | None:
    newest = samples[-1].input_rate
    if not isinstance(newest, Mapping):
        whole = (None if isinstance(sample.input_rate, Mapping) else sample.input_rate for sample in samples)
        return _mean(whole, samples, seconds)
    means = {root: _mean((sample.input_rate_of(root) for sample in samples), samples, seconds) for root in newest}
    return {root: mean for root, mean in means.items() if mean is not None}


def _mean(rates: Iterable[float | None], samples: Sequence[Sample], seconds: float) -> float | None:
    pairs = zip(rates, samples, strict=True)
    total = _total(None if rate is None else rate * sample.seconds for rate, sample in pairs)
    return None if total is None else total / seconds


def _total(figures: Iterable[float | None]) -> float | None:
    known = list(figures)
    return None if None in known else sum(figure for figure in known if figure is not None)
