"""Latencies, counted in bins of 2 %, so that memory is constant and any percentile can be computed later.

Records that leave in one step share a fixed part of latency; the random part is taken as exponential, like the tail of
the waiting time in a queue.
"""

from __future__ import annotations

import math

import numpy as np

from penstock.model import Latency, Slo
from penstock.simulator.arrays import BINS, BINS_PER_E_FOLD, SMALLEST_MS, Floats
from penstock.simulator.compiled import compiled

# Slices of an exponential distribution of mean 1: the probability of each, and the mean within it. Common percentiles
# lie in the middle of narrow slices.
_EDGES = np.array([0.0, 0.15, 0.3, 0.45, 0.55, 0.7, 0.82, 0.9, 0.94, 0.96, 0.985, 0.995, 1.0])
_CHANCE = np.diff(_EDGES)
_SURVIVAL = 1.0 - _EDGES
_TAIL_MEAN = np.array([s * (1.0 - math.log(s)) if s > 0 else 0.0 for s in _SURVIVAL])
_MEAN = (_TAIL_MEAN[:-1] - _TAIL_MEAN[1:]) / _CHANCE

OF_MEAN = {"mean": 1.0, "p50": math.log(2), "p95": math.log(20), "p99": math.log(100)}
"""The statistics of an exponential distribution, as multiples of its mean."""


@compiled
def count_latency(bins: Floats, records: float, fixed: float, random: float) -> None:
    """Count records whose latency is `fixed` plus an exponential of mean `random`, both in seconds."""
    for piece in range(len(_CHANCE)):
        latency_ms = 1e3 * (fixed + random * _MEAN[piece])
        place = int(BINS_PER_E_FOLD * math.log(max(latency_ms, SMALLEST_MS) / SMALLEST_MS))
        bins[min(place, BINS - 1)] += records * _CHANCE[piece]


def summarise(bins: Floats, records: float, total_seconds: float) -> Latency | None:
    """The statistics of the counted latencies; None without any."""
    if records <= 0:
        return None
    reached = np.cumsum(bins)
    places = np.searchsorted(reached, np.array([0.5, 0.95, 0.99]) * reached[-1])
    p50, p95, p99 = (SMALLEST_MS * np.exp((places + 0.5) / BINS_PER_E_FOLD)).tolist()
    return Latency(mean=1e3 * total_seconds / records, p50=p50, p95=p95, p99=p99)


def targets_of(slo: Slo) -> Floats:
    """Targets for the inner loop: processing and event latency and tolerated lag in seconds, the statistic's factor."""

    def seconds(milliseconds: float | None) -> float:
        return np.inf if milliseconds is None else milliseconds / 1e3

    processing, event = seconds(slo.processing_latency_ms), seconds(slo.event_latency_ms)
    return np.array([processing, event, slo.tolerated_lag_seconds, OF_MEAN[slo.statistic]])
