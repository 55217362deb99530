"""The latency of records that were measured apart: over several windows, or in several batches of one window."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from penstock.model import Latency

SHARES = (("p50", 0.725), ("p95", 0.245), ("p99", 0.03))
"""What the figures of one stand for: its median for the lower three quarters of its records, and so on."""


def together(parts: Sequence[tuple[float, Latency]]) -> Latency:
    """The latency of all, each part with its number of records. One that has all records is as it was measured.

    >>> together([(100, Latency(mean=10, p50=10, p95=20, p99=30)), (300, Latency(mean=30, p50=30, p95=40, p99=50))])
    Latency(mean=25.0, p50=30, p95=40, p99=50)
    >>> together([(100, Latency(mean=10)), (0, Latency(mean=30))])
    Latency(mean=10, p50=None, p95=None, p99=None)
    """
    parts = [(count, latency) for count, latency in parts if count]
    if len(parts) < 2:
        return parts[0][1] if parts else Latency()
    records = sum(count for count, _ in parts)
    mean = sum(count * (latency.mean or 0.0) for count, latency in parts) / records
    points = sorted(
        (figure, count * share)
        for count, latency in parts
        for name, share in SHARES
        if (figure := latency.at(name)) is not None
    )
    reached = list(accumulate(weight for _, weight in points))

    def at(share: float) -> float:
        return next(figure for (figure, _), sum_ in zip(points, reached, strict=True) if sum_ >= share * reached[-1])

    return Latency(mean=mean, p50=at(0.5), p95=at(0.95), p99=at(0.99))
