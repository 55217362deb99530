"""What a batch costs, apart from its records: the reason why a busy query may still be over-provisioned.

A query without a trigger interval begins the next batch as soon as one ends. With little load it runs tiny batches
back to back, and its slots look busy with what every batch costs. Fewer slots would make larger batches, not a job
that falls behind. So the capacity that counts is that of batches as long as the target allows.

Glossary, for a batch of n records that took y slot-seconds:

    f   fixed: slot-seconds that every batch takes (tasks to start, consumers to wake)
    u   per_record: slot-seconds that one record adds
    o   overhead: seconds in which the driver plans and commits, and no slot works
    B   seconds that a batch may take

With k slots and r records per second, a batch keeps up if  o + (f + u r B) / k <= B, so the slots needed are

    k = (f / B + u r) / (1 - o / B)

How f and u are found. A batch misses y = f + u n by noise that grows with its size, as n + m, with m the median size.
Least squares with these weights have their centre at (x, Y), which lies on the line whatever its slope:

    f + u x = Y,  f >= 0  and  u >= 0,  so  0 <= u <= Y / x

Batches that are alike say no more than that: all may be the records' cost, or nothing. Batches of different sizes add a
slope with its standard error. Before they are seen every u in the interval is as likely as any other; afterwards u is
normal about the slope, cut off where it is impossible. `best` takes the mean of it, `cheap` and `dear` two standard
errors less and more, as far as that is possible. Where batches have r B records already, all of them give the same k.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import fsum
from statistics import fmean, median

from penstock.model import Batch, Slo
from penstock.performance.truncated_normal import truncated_mean

LEAST_SHARE_OF_WORK = 0.1
"""Where overhead nearly fills a batch, at most ten times the slots are asked for."""

CAUTION = 2.0
"""Standard errors between what a record costs by the best estimate and what is just still likely."""

USUAL_NOISE, USUAL_WEIGHT = 0.05, 2
"""Before anything was measured, batches are taken to miss by this share of their cost, and that counts as this many
batches: three that lie on a line by chance do not prove that there is no noise."""

LEAST_RECORDS = 1e-3
"""Fewer are none: records are whole, and a quotient of nearly nothing is not finite."""

NOTICEABLE = 0.1
"""A batch that misses by less than this share of its cost does not contradict the others, however exact those are."""

WELL_KNOWN = 0.25
"""Up to this part of itself, a load that is not known exactly is known well enough to say one number."""


@dataclass(frozen=True, slots=True)
class BatchCost:
    """f, u and o of the glossary."""

    fixed: float
    per_record: float
    overhead: float

    def of(self, records: float) -> float:
        """Slot-seconds that a batch of so many records takes."""
        return self.fixed + self.per_record * records

    def slots(self, rate: float, batch_seconds: float) -> float:
        """Slots that `rate` records per second keep busy in batches of that length.

        >>> BatchCost(fixed=1.0, per_record=0.01, overhead=0.5).slots(rate=200, batch_seconds=5)
        2.4444444444444446
        """
        share_of_work = max(LEAST_SHARE_OF_WORK, 1 - self.overhead / batch_seconds)
        return (self.fixed / batch_seconds + self.per_record * rate) / share_of_work


@dataclass(frozen=True, slots=True)
class Load:
    """The slots that a rate keeps busy, and how sure that is.

    slots  the best estimate
    low    the least that the batches leave possible
    high   the most that they leave possible
    """

    slots: float
    low: float
    high: float

    @property
    def known_within(self) -> float:
        """Half the way from `low` to `high`, as a part of the best estimate; 0 if it is known exactly."""
        return (self.high - self.low) / 2 / self.slots if self.slots else 0.0

    def to_plan_for(self, utilisation: float) -> float:
        """The load to show to a policy that lets slots be busy for this part of the time.

        The reserve of a policy is for what is not known: it is made for the best estimate, and where that leaves
        less than `high` for `high` itself, but not on top of `high`. So a job does not shrink to less than it may need,
        and one that keeps up does not grow because its batches are alike.

        >>> Load(slots=4.0, low=3.8, high=4.2).to_plan_for(0.8), Load(slots=4.0, low=1.0, high=7.0).to_plan_for(0.8)
        (4.0, 5.6000000000000005)
        """
        return max(self.slots, utilisation * self.high)

    def __str__(self) -> str:
        """
        >>> print(Load(slots=4.0, low=3.8, high=4.2))
        the load fills 4.00 slots, known to within 5 %
        >>> print(Load(slots=0.4, low=0.1, high=0.7))
        the load fills 0.10 to 0.70 slots: the batches were too much alike to tell what a record costs from what every \
batch costs
        """
        if self.known_within <= WELL_KNOWN:
            return f"the load fills {self.slots:.2f} slots, known to within {100 * self.known_within:.0f} %"
        return (
            f"the load fills {self.low:.2f} to {self.high:.2f} slots: the batches were too much alike to tell what a "
            "record costs from what every batch costs"
        )


@dataclass(frozen=True, slots=True)
class CostEstimate:
    """What batches cost, as far as they tell.

    best     the mean of all that is possible
    cheap    the split in which records cost the least that is likely, and batches the most
    dear     the split in which records cost the most that is likely, and batches the least
    noise    slot-seconds by which a batch of `typical` records misses
    typical  the median number of records
    """

    best: BatchCost
    cheap: BatchCost
    dear: BatchCost
    noise: float
    typical: float

    def load(self, rate: float, batch_seconds: float) -> Load:
        """What `rate` records per second need in batches of that length."""
        ends = sorted(cost.slots(rate, batch_seconds) for cost in (self.cheap, self.dear))
        return Load(self.best.slots(rate, batch_seconds), *ends)

    def miss(self, batch: Batch) -> float:
        """How far a batch is beyond all that is likely, in standard deviations; negative if it cost less."""
        low, high = sorted(cost.of(batch.records) for cost in (self.cheap, self.dear))
        beyond = batch.useful_seconds - min(max(batch.useful_seconds, low), high)
        noise = max(self.noise * _noisiness(batch.records, self.typical), NOTICEABLE * self.best.of(batch.records))
        return beyond / noise if beyond else 0.0


def fit(batches: Collection[Batch]) -> CostEstimate:
    """The cost that these batches show, in whatever order they come.

    >>> small, large = Batch(10, 1.3, 1.1, 1.1), Batch(400, 5.2, 5.0, 5.0)
    >>> told_apart = fit([small, Batch(20, 1.4, 1.2, 1.2), Batch(30, 1.5, 1.3, 1.3), large])
    >>> round(told_apart.best.fixed, 9), round(told_apart.best.per_record, 9)
    (1.0, 0.01)
    >>> alike = fit([small] * 3)
    >>> round(alike.cheap.per_record, 5), round(alike.best.per_record, 5), round(alike.dear.per_record, 5)
    (0.0, 0.055, 0.11)
    """
    sizes, costs = [_counted(each.records) for each in batches], [each.useful_seconds for each in batches]
    overhead = median([max(0.0, each.seconds - each.stage_seconds) for each in batches])
    typical = median(sizes) or fmean(sizes)
    weights = [_noisiness(n, typical) ** -2 for n in sizes]
    whole = fsum(weights)
    x = fsum([w * n for w, n in zip(weights, sizes, strict=True)]) / whole
    y = fsum([w * c for w, c in zip(weights, costs, strict=True)]) / whole
    off = [n - x for n in sizes]
    spread = fsum([w * d * d for w, d in zip(weights, off, strict=True)])
    slope = fsum([w * d * (c - y) for w, d, c in zip(weights, off, costs, strict=True)]) / spread if spread else 0.0
    misses = fsum([w * (c - y - slope * d) ** 2 for w, d, c in zip(weights, off, costs, strict=True)])
    usual = USUAL_NOISE * y / _noisiness(x, typical)
    noise = math.sqrt((USUAL_WEIGHT * usual**2 + misses) / (USUAL_WEIGHT + max(0, len(sizes) - 2)))
    error = noise / math.sqrt(spread) if spread else math.inf
    ceiling = y / x if x else 0.0
    slope = min(max(slope, 0.0), ceiling)
    mean = truncated_mean(slope, error, 0.0, ceiling)
    ends = max(0.0, slope - CAUTION * error), min(ceiling, slope + CAUTION * error)
    best, cheap, dear = (BatchCost(max(0.0, y - u * x), u, overhead) for u in (mean, *ends))
    return CostEstimate(best, cheap, dear, noise, typical)


def _counted(records: float) -> float:
    return records if records >= LEAST_RECORDS else 0.0


def _noisiness(records: float, typical: float) -> float:
    """The noise of a batch of so many records, as a multiple of that of a typical one."""
    return (1 + records / typical) / 2 if typical else 1.0


def least_load(batches: Sequence[Batch], rate: float, batch_seconds: float) -> float:
    """The slots that `rate` needs at the least if all batches cost what these do, whatever is fixed of it.

    >>> round(least_load([Batch(3000, 6.5, 6.0, 6.0)], rate=500, batch_seconds=5), 3)  # 2 ms for each record
    1.111
    """
    overhead = median([max(0.0, each.seconds - each.stage_seconds) for each in batches])
    cost, records = fmean([b.useful_seconds for b in batches]), fmean([_counted(b.records) for b in batches])
    all_fixed = BatchCost(cost, 0.0, overhead).slots(rate, batch_seconds)
    return min(all_fixed, BatchCost(0.0, cost / records, overhead).slots(rate, batch_seconds)) if records else all_fixed


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
