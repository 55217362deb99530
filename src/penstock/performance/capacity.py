"""The throughput that a job can sustain at each scale-out, by ridge regression.

Glossary (Phoebe, RecoveryTimeModelImpl: sklearn's RidgeCV with its default penalties):

    x, y      scale-outs tried and the highest throughput of each
    penalty   slope = S_xy / (S_xx + penalty); of 0.1, 1 and 10 the one that predicts each y best from all others
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import fsum

PENALTIES = (0.1, 1.0, 10.0)


@dataclass(frozen=True, slots=True)
class Capacity:
    """A line through the throughputs tried.

    >>> capacity = Capacity.fit({2: 200.0, 4: 400.0, 8: 800.0})
    >>> round(capacity.at(6))
    599
    """

    slope: float
    x: float
    y: float

    @classmethod
    def fit(cls, tried: Mapping[int, float]) -> Capacity:
        n = len(tried)
        x, y = fsum(tried) / n, fsum(tried.values()) / n
        spread, common = fsum((k - x) ** 2 for k in tried), fsum((k - x) * (v - y) for k, v in tried.items())

        def unseen_error(penalty: float) -> float:
            """How far the points are off if each is predicted from the others, squared."""
            slope = common / (spread + penalty)
            left_out = (
                (v - y - slope * (k - x), 1 - 1 / n - (k - x) ** 2 / (spread + penalty)) for k, v in tried.items()
            )
            return fsum((miss / weight) ** 2 for miss, weight in left_out)

        penalty = min(PENALTIES, key=unseen_error) if n > 1 else PENALTIES[0]
        return cls(common / (spread + penalty), x, y)

    def at(self, scale_out: int) -> float:
        return self.y + self.slope * (scale_out - self.x)
