"""How Kafka's topics grew over the last minutes, from readings of their lengths."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Mapping


class Growth:
    """Remembers the lengths of topics, and interpolates between two readings.

    >>> growth = Growth()
    >>> growth.add(10.0, {"clicks": 100})
    >>> growth.add(12.0, {"clicks": 300})
    >>> growth.at("clicks", 11.0), growth.between("clicks", 10.0, 12.0), growth.at("clicks", 30.0)
    (200.0, 200.0, None)
    """

    def __init__(self, remembered: int = 1000, tolerance_seconds: float = 3.0) -> None:
        self._readings: deque[tuple[float, Mapping[str, int]]] = deque(maxlen=remembered)
        self._tolerance_seconds = tolerance_seconds

    def add(self, t: float, lengths: Mapping[str, int]) -> None:
        if not self._readings or t > self._readings[-1][0]:  # of two threads the later one may add first
            self._readings.append((t, dict(lengths)))

    def at(self, topic: str, t: float) -> float | None:
        """Records in the topic at `t`; None where there is no reading around that time."""
        readings = list(self._readings)
        after = bisect_left(readings, t, key=lambda reading: reading[0])
        around = readings[max(0, after - 1) : after + 1]
        if not around or min(abs(t - time) for time, _ in around) > self._tolerance_seconds:
            return None
        (t0, first), (t1, last) = around[0], around[-1]
        share = 0.0 if t1 == t0 else min(1.0, max(0.0, (t - t0) / (t1 - t0)))
        return first[topic] + share * (last[topic] - first[topic])

    def between(self, topic: str, start: float, end: float) -> float | None:
        """Records that came between two times."""
        before, after = self.at(topic, start), self.at(topic, end)
        return None if before is None or after is None else max(0.0, after - before)
