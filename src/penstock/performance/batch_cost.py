"""What a batch costs, apart from its records: the reason why a busy query may still be over-provisioned.

A query without a trigger interval begins the next batch as soon as one ends. With little load it runs tiny batches
back to back, and its slots look busy with what every batch costs. Fewer slots would make larger batches, not a job
that falls behind. So the capacity that counts is that of batches as long as the target allows.

Glossary, for a batch of n records:

    f   fixed: slot-seconds that every batch takes (tasks to start, consumers to wake)
    u   per_record: slot-seconds that one record adds
    o   overhead: seconds in which the driver plans and commits, and no slot works
    B   seconds that a batch may take

With k slots and r records per second, a batch keeps up if  o + (f + u r B) / k <= B, so the slots needed are

    k = (f / B + u r) / (1 - o / B)
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from math import fsum
from statistics import median

from penstock.model import Batch, Slo
from penstock.performance.regression import least_squares

LEAST_SHARE_OF_WORK = 0.1
"""Where overhead nearly fills a batch, at most ten times the slots are asked for."""

CAUTION = 2.0
"""Standard errors added to what a record seems to cost: little evidence must not let a job shrink."""


@dataclass(frozen=True, slots=True)
class BatchCost:
    """f, u and o of the glossary."""

    fixed: float
    per_record: float
    overhead: float

    def slots(self, rate: float, batch_seconds: float) -> float:
        """Slots that `rate` records per second keep busy in batches of that length.

        >>> BatchCost(fixed=1.0, per_record=0.01, overhead=0.5).slots(rate=200, batch_seconds=5)
        2.4444444444444446
        """
        share_of_work = max(LEAST_SHARE_OF_WORK, 1 - self.overhead / batch_seconds)
        return (self.fixed / batch_seconds + self.per_record * rate) / share_of_work


def fit(batches: Collection[Batch]) -> BatchCost:
    """The cost that these batches show. Batches of one size cannot show a fixed cost: all goes to the records.

    >>> small, large = Batch(10, 1.3, 1.1, 1.1), Batch(400, 5.2, 5.0, 5.0)
    >>> cost = fit([small, Batch(20, 1.4, 1.2, 1.2), Batch(30, 1.5, 1.3, 1.3), large])
    >>> round(cost.fixed, 9), round(cost.per_record, 9), round(fit([small] * 3).per_record, 9)
    (1.0, 0.01, 0.11)
    """
    records, useful = [each.records for each in batches], [each.useful_seconds for each in batches]
    line = least_squares(records, useful)
    spread = fsum((n - line.x) ** 2 for n in records)
    per_record = ceiling = line.y / line.x if line.x else 0.0
    if len(records) > 2 and spread > 0:
        misses = fsum((y - line.at(n)) ** 2 for n, y in zip(records, useful, strict=True))
        error = math.sqrt(misses / (len(records) - 2) / spread)
        per_record = min(max(line.slope + CAUTION * error, 0.0), ceiling)
    overhead = median(max(0.0, each.seconds - each.stage_seconds) for each in batches)
    return BatchCost(max(0.0, line.y - per_record * line.x), per_record, overhead)


def batch_seconds(slo: Slo, trigger_seconds: float) -> float:
    """How long batches may take.

    On average a record waits half a batch and then stays for a whole one: half the event latency for a batch leaves a
    quarter of it in reserve. A longer trigger interval is the length of a batch in any case.

    >>> batch_seconds(Slo(event_latency="10 s"), 0.0), batch_seconds(Slo(processing_latency="2 s"), 0.0)
    (5.0, 2.0)
    """
    targets = []
    if slo.processing_latency_ms is not None:
        targets.append(slo.processing_latency_ms / 1e3)
    if slo.event_latency_ms is not None or not targets:
        targets.append(slo.tolerated_lag_seconds / 2)
    return max(trigger_seconds, min(targets))
