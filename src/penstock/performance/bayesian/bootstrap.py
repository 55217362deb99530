"""The first configurations to try: a few that say much about a whole search space."""

from __future__ import annotations

import math

from penstock.performance.bayesian.search_space import Configuration, SearchSpace


def bootstrap_set(space: SearchSpace, uniform_samples: int) -> tuple[Configuration, ...]:
    """M uniform configurations, then for each operator the base with that operator at its maximum.

    The uniform ones climb from the base's widest operator, k'_max, to P_max in M - 1 equal intervals. Where
    operators have different maxima, P_max is the largest of them and each operator stops at its own.
    No configuration is listed twice.

    >>> bootstrap_set(SearchSpace((1, 4), (10, 10)), uniform_samples=3)
    ((4, 4), (7, 7), (10, 10), (10, 4), (1, 10))
    """
    widest, most = max(space.lower), max(space.upper)
    interval = (most - widest) / (uniform_samples - 1) if uniform_samples > 1 else 0.0
    levels = (math.floor(widest + i * interval + 0.5) for i in range(uniform_samples))
    uniform = [tuple(min(level, high) for high in space.upper) for level in levels]
    single = [(*space.lower[:i], high, *space.lower[i + 1 :]) for i, high in enumerate(space.upper)]
    return tuple(dict.fromkeys(point for point in (*uniform, *single) if point in space))
