"""What it takes to hand a record on from one chain of operators to the next, learnt from plans that differ in it.

The latency of a job has a part that neither queues nor service explain. If it is longer under plans with more hops on a
record's way, that is what they take. As long as only one number of hops was seen, nobody knows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

PACE = 0.05
"""How much of the newest window goes into the mean of its number of hops, once there are some of them."""


class HopCost:
    """
    >>> cost = HopCost()
    >>> cost.learn(0, 0.010)
    >>> cost.seconds
    >>> cost.learn(2, 0.034)
    >>> round(cost.seconds, 3)
    0.012
    """

    def __init__(self) -> None:
        self._seen: dict[int, tuple[int, float]] = {}  # by number of hops: windows, and their mean

    def learn(self, hops: int, unexplained: float) -> None:
        """Take in a window: how often a record was handed on, and the seconds that nothing else explains."""
        windows, mean = self._seen.get(hops, (0, 0.0))
        pace = max(PACE, 1.0 / (windows + 1))
        self._seen[hops] = windows + 1, mean + pace * (unexplained - mean)

    @property
    def seconds(self) -> float | None:
        """Of one hop, by least squares; None: not known."""
        if len(self._seen) < 2:
            return None
        middle = sum(self._seen) / len(self._seen)
        spread = sum((hops - middle) ** 2 for hops in self._seen)
        slope = sum((hops - middle) * mean for hops, (_, mean) in self._seen.items()) / spread
        return max(0.0, slope)

    def state(self) -> dict[str, Any]:
        return {str(hops): list(seen) for hops, seen in self._seen.items()}

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> HopCost:
        cost = cls()
        cost._seen = {int(hops): (windows, mean) for hops, (windows, mean) in state.items()}
        return cost
