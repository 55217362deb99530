"""Plans that must not be chosen, whatever they cost: what a price would only make unlikely."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from penstock.performance.horizon import Option

NEARLY = 0.95
"""Where no plan drains what waits within its limit, those are weighed that do this part of what the best one does."""


def in_time(options: Sequence[Option], surely: float) -> list[Option]:
    """The options, the last of them to stay: if that will almost surely be too small within minutes, without those that
    are too small then.

    It has to grow. To wait would tell how much, but only by missing targets first.
    """
    allowed = [each.rung.limit for each in options if math.isfinite(each.cost)]
    if options[-1].rung.limit >= surely or max(allowed, default=0.0) < surely:
        return list(options)
    return [each if each.rung.limit >= surely else replace(each, cost=math.inf) for each in options]


def drained_in_time(options: Sequence[Option], rate: float) -> list[Option]:
    """The options without those that do less than it takes to drain what waits within the limit of the SLO.

    Where none does as much, those that do nearly as much as the best of them: the sooner it has gone the better.
    """
    most = max((each.rung.capacity for each in options if math.isfinite(each.cost)), default=0.0)
    least = rate if most >= rate else NEARLY * most
    return [each if each.rung.capacity >= least else replace(each, cost=math.inf) for each in options]
