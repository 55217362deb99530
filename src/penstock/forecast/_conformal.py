"""How far predictions miss, by their own misses: quantiles that are counted, not assumed to be normal.

Split conformal prediction: of n misses that might as well have come in any other order, the next one is at most the
ceil(p (n + 1))-th smallest with probability p at least. Only the newest are kept, so that quantiles follow the load.
"""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections import deque
from collections.abc import Iterable
from statistics import NormalDist

REMEMBERED = 240
FEW = 10
"""With fewer misses than this, a nominal error stands in for what they would show."""

BEYOND = 0.5
"""A level that so few misses cannot show lies beyond the largest by this part of its distance from the median, for each
time that as many misses again would be needed to show it."""


class Misses:
    """The newest misses of one kind of prediction, as shares of what was predicted.

    >>> misses = Misses(nominal=0.1)
    >>> for miss in range(-9, 10):
    ...     misses.add(miss / 100)
    >>> misses.quantile(0.5), misses.quantile(0.9), round(misses.quantile(0.99), 3)
    (0.0, 0.08, 0.198)
    """

    def __init__(self, nominal: float, misses: Iterable[float] = ()) -> None:
        """`nominal` is the standard deviation that is assumed before anything was measured."""
        self.nominal = nominal
        self.newest: deque[float] = deque(misses, maxlen=REMEMBERED)
        self._sorted = sorted(self.newest)

    def add(self, miss: float) -> None:
        if len(self.newest) == self.newest.maxlen:
            del self._sorted[bisect_left(self._sorted, self.newest[0])]
        self.newest.append(miss)
        insort(self._sorted, miss)

    def quantile(self, level: float) -> float:
        """The miss that is not exceeded with this probability; `level` lies between 0 and 1."""
        n = len(self._sorted)
        if n < FEW:
            return self.nominal * NormalDist().inv_cdf(level)
        if level < 0.5:
            rank = math.floor(level * (n + 1))
            return self._sorted[rank - 1] if rank >= 1 else self._beyond(0, n * level)
        rank = math.ceil(level * (n + 1))
        return self._sorted[rank - 1] if rank <= n else self._beyond(-1, n * (1 - level))

    def _beyond(self, end: int, shown: float) -> float:
        """What lies beyond the last miss on one side, of which `shown` would be expected further out."""
        largest, middle = self._sorted[end], self._sorted[len(self._sorted) // 2]
        return largest + BEYOND * (largest - middle) * math.log2(1 / min(1.0, max(shown, 1e-3)))
