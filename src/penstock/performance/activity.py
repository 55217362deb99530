"""AUTOSCALE's mathematics: how busy an operator will be in the next window, alone and in its graph.

Glossary (the paper's words; counts are records per window of `seconds`):

    EstimInput      records an operator will have to process: those it will receive and those that wait (1-3)
    Capacity        records it can process at its present degree (4)
    EstimCapacity   the same for the next window (5)
    LAL, GAL        local and global activity level: EstimInput / EstimCapacity, before and after the graph was
                    looked at (6, 10)
    SF              selectivity: records emitted for each record processed (7)
    EstimOutput     records it will emit at its new degree (8, 9)
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import fsum

from penstock.model import Sample, Topology
from penstock.performance.regression import Line, least_squares
from penstock.performance.windows import received

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
    """What is expected of one operator in the next window, as it looks by itself.

    `capacity` and `estimated_capacity` are those of its present `degree`; `shares` is the part that it gets of each
    parent's output.
    """

    received: float
    pending: float
    degree: int
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

    def output(self, input_records: float, degree: int) -> float:
        """EstimOutput at a degree, by equations 8 and 9.

        Equation 8 limits what is processed by the capacity, multiplied by the window a second time: as it is printed it
        limits nothing. A limit at the present degree would tell no child more than it sees already, against the
        purpose of Algorithm 1. Read here: an operator processes what its new degree can.
        """
        return min(input_records, self.capacity * degree / self.degree) * self.selectivity


@dataclass(frozen=True, slots=True)
class Sizing:
    """What one operator gets once the whole graph was looked at; `output` is EstimOutput at the new degree."""

    input: float
    level: float
    activity: Activity
    action: Action
    degree: int
    output: float


def expected_input(name: str, topology: Topology, window: Sequence[Sample], seconds: float) -> tuple[float, Line]:
    """Records that an operator will receive in the next window of so many seconds (2), and the trend behind it.

    The trend is that of records per measurement, each as long as the newest.
    """
    end, step = window[-1].end, window[-1].seconds
    trend = least_squares(
        [sample.end for sample in window],
        [received(name, topology, sample) * step / sample.seconds for sample in window],
    )
    return estimated_received(trend, [end + (k + 1) * step for k in range(measurements_in(seconds, step))]), trend


def measurements_in(seconds: float, step: float) -> int:
    """How many measurements of `step` seconds a window has; at least one."""
    return max(1, round(seconds / step))


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


def sized(
    topology: Topology, estimates: Mapping[str, Estimate], low: float, high: float, combine: str
) -> dict[str, Sizing]:
    """Every operator sized for its own estimate and for what its parents will send it (Algorithm 1, 10, 11, Table I).

    Parents come before children; a breadth-first walk from the sources guarantees that only where all paths to an
    operator are equally long. The level (10) always combines the operator's own estimate with the output of all its
    parents. Algorithm 1 goes further where a parent is critical at local scale: there the combined estimate replaces
    the operator's own, so that its children hear of it too. A source has nobody to contradict it.
    """
    critical = {name for name, own in estimates.items() if own.level(own.input) > 1.0 + EXACT}
    result: dict[str, Sizing] = {}
    for name in topology.order:
        own, parents = estimates[name], topology.parents[name]
        combined = own.input
        if parents:
            emitted = fsum(result[parent].output * own.shares[parent] for parent in parents)
            combined = COMBINE[combine](own.input, emitted)
        level = own.level(combined)
        activity = Activity.of(level, low, high)
        action = Action.of(activity, own.increasing)
        degree = topology.clamp(name, new_degree(own.degree, level, activity, action))
        consistent = own.input if critical.isdisjoint(parents) else combined
        result[name] = Sizing(combined, level, activity, action, degree, own.output(consistent, degree))
    return result


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
