"""Compares the windows that a change was decided on with those measured since."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from statistics import fmean

from penstock.model import Cycle, Sample, Slo

LATENCY_TARGETS = ("processing_latency", "event_latency")

Windows = tuple[Sample, ...]


def decided_on(cycle: Cycle) -> Windows:
    """The windows of a cycle, without those of a job that was still warming up."""
    return tuple(sample for sample in cycle.samples if not sample.warm_up)


def throughput(windows: Windows) -> float | None:
    return _mean(windows, lambda window: window.throughput)


def input_rate(windows: Windows) -> float | None:
    return _mean(windows, lambda window: window.job_input_rate)


def latency_ratio(before: Windows, after: Windows, target: str, slo: Slo) -> float | None:
    """The latency after as a multiple of the latency before; None if one of them is unknown."""
    was, became = latency_ms(before, target, slo), latency_ms(after, target, slo)
    return None if not was or became is None else became / was


def latency_ms(windows: Windows, target: str, slo: Slo) -> float | None:
    """The mean latency over the windows for a target, by the statistic of the slo."""

    def measured(window: Sample) -> float | None:
        latency = window.processing_latency_ms if target == "processing_latency" else window.event_latency_ms
        return None if latency is None else latency.at(slo.statistic)

    return _mean(windows, measured)


def missed(windows: Iterable[Sample], slo: Slo) -> frozenset[str]:
    """The targets that every one of these windows missed; none if there is no window."""
    misses = [frozenset(slo.violations(window)) for window in windows]
    return frozenset.intersection(*misses) if misses else frozenset()


def _mean(windows: Windows, figure: Callable[[Sample], float | None]) -> float | None:
    """The mean over the windows that have the figure; None if none has it."""
    measured = [value for window in windows if (value := figure(window)) is not None]
    return fmean(measured) if measured else None
