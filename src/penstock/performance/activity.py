"""AUTOSCALE's mathematics: how busy an operator will be in the next window, alone and in its graph.

Glossary (the paper's words; counts are records per window of `seconds`):

    EstimInput      records an operator will have to process: those it will receive and those that wait (1-3)
    Capacity        records it can process at its present degree (4)
    EstimCapacity   the same for the next window (5)
    LAL, GAL        local and global activity level: EstimInput / EstimCapacity, before and after the graph was
                    looked at (6, 10)
    SF              selectivity: records emitted for each record processed (7)
    EstimOutput     records it will emit (8, 9)
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import fsum

from penstock.model import Topology
from penstock.performance.regression import Line

EXACT = 1e-9
"""Levels are quotients: 0.8000000001 is still 0.8, and 2.0000000001 instances are 2."""

COMBINE = {"max": max, "min": min}
"""How two estimates of an input become one: max is the safe way, min the frugal one."""


class Activity(StrEnum):
    """How much of its capacity an operator will need."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"

    @classmethod
    def of(cls, level: float, low: float, high: float) -> Activity:
        """The band a level falls in; each band includes its upper end.

        >>> [str(Activity.of(level, 0.3, 0.8)) for level in (0.3, 0.8, 1.0, 1.01)]
        ['low', 'medium', 'high', 'critical']
        """
        if level <= low + EXACT:
            return cls.LOW
        if level <= high + EXACT:
            return cls.MEDIUM
        return cls.HIGH if level <= 1.0 + EXACT else cls.CRITICAL


class Action(StrEnum):
    """What an operator needs."""

    SCALE_IN = "scale-in"
    NOTHING = "nothing"
    SCALE_OUT = "scale-out"

    @classmethod
    def of(cls, activity: Activity, increasing: bool) -> Action:
        """Table I: act on the activity, unless the trend of the input will mend it or says to wait."""
        if activity is Activity.LOW:
            return cls.NOTHING if increasing else cls.SCALE_IN
        if activity is Activity.HIGH:
            return cls.SCALE_OUT if increasing else cls.NOTHING
        return cls.SCALE_OUT if activity is Activity.CRITICAL else cls.NOTHING


@dataclass(frozen=True, slots=True)
class Estimate:
    """What is expected of one operator in the next window; `shares` is the part it gets of each parent's output."""

    received: float
    pending: float
    capacity: float
    estimated_capacity: float
    selectivity: float
    increasing: bool
    shares: Mapping[str, float]

    @property
    def input(self) -> float:
        """EstimInput, by equation 3."""
        return self.received + self.pending

    def level(self, input_records: float) -> float:
        """The activity level at an input, by equations 6 and 10."""
        return input_records / self.estimated_capacity

    def output(self, input_records: float) -> float:
        """EstimOutput, by equations 8 and 9. Equation 8 multiplies the capacity by the window, as (4) already did."""
        return min(input_records, self.capacity) * self.selectivity


def estimated_received(trend: Line, timestamps: Iterable[float]) -> float:
    """Equation 2: the trend summed over the next window's timestamps, with a negative rate counted as 0."""
    return fsum(max(0.0, trend.at(t)) for t in timestamps)


def capacity(latency_seconds: float, seconds: float, degree: int) -> float:
    """Capacity, by equation 4.

    >>> capacity(0.08, 60, 8)
    6000.0
    """
    return seconds / latency_seconds * degree


def estimated_capacity(capacities: Sequence[float]) -> float:
    """Equation 5: the last capacity, moved by how it went with those of earlier windows (oldest first).

    The paper adds the covariance itself, which has the unit squared. Read here: the covariance of each capacity with
    the one before, divided by their standard deviation, and never more than half of the last capacity.

    >>> estimated_capacity([500.0, 500.0, 500.0])
    500.0
    """
    last = capacities[-1]
    mean = fsum(capacities) / len(capacities)
    deviation = math.sqrt(fsum((c - mean) ** 2 for c in capacities) / len(capacities))
    if len(capacities) < 3 or deviation <= EXACT * mean:
        return last
    earlier, later = capacities[:-1], capacities[1:]
    x, y, pairs = fsum(earlier) / len(earlier), fsum(later) / len(later), zip(earlier, later, strict=True)
    covariance = fsum((a - x) * (b - y) for a, b in pairs) / len(earlier)
    return last + min(max(covariance / deviation, -last / 2), last / 2)


def consistent_inputs(
    topology: Topology, estimates: Mapping[str, Estimate], low: float, high: float, combine: str
) -> dict[str, float]:
    """Algorithm 1: what each operator will have to process once its parents are looked at.

    Parents come before children; a breadth-first walk from the sources guarantees that only where all paths to an
    operator are equally long. An operator with a critical parent combines its own estimate with the sum of what all its
    parents will emit; the others keep theirs. A parent counts as critical by its estimate as it stands then,
    combined or not: so a burst at the source reaches every operator downstream, even where back-pressure hides
    from them what is coming.
    """
    inputs: dict[str, float] = {}
    critical: set[str] = set()
    for name in topology.order:
        own, parents = estimates[name], topology.parents[name]
        inputs[name] = own.input
        if not critical.isdisjoint(parents):
            emitted = sum(estimates[p].output(inputs[p]) * own.shares[p] for p in parents)
            inputs[name] = COMBINE[combine](own.input, emitted)
        if Activity.of(own.level(inputs[name]), low, high) is Activity.CRITICAL:
            critical.add(name)
    return inputs


def new_degree(degree: int, level: float, activity: Activity, action: Action) -> int:
    """The new degree by equation 11, before it is limited to the operator's min and max.

    >>> new_degree(4, 0.9, Activity.HIGH, Action.SCALE_OUT), new_degree(4, 1.3, Activity.CRITICAL, Action.SCALE_OUT)
    (5, 6)
    """
    if action is Action.NOTHING:
        return degree
    if activity is Activity.HIGH:
        return degree + 1
    return math.ceil(degree * level - EXACT)
