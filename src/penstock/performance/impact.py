"""DABS-Storm's mathematics: the degree each operator asks for, and the impact of one that grows on its children.

Glossary (the words of its authors' public code; counts are records per window):

    load      records an operator will receive
    activity  load and what waits, over its capacity
    impact    what all parents of an operator will send it: their loads times their selectivities
    alpha     the part of its share of a core that an instance is not trusted to use: balancing takes it
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from math import fsum

from penstock.model import Topology

EXACT = 1e-9
"""Degrees are quotients: 2.0000000001 instances are 2."""


@dataclass(frozen=True, slots=True)
class Demand:
    """One operator in the next window.

    load         records that it will receive
    pending      records that wait in front of it
    degree       its instances now
    capacity     records that they can process
    selectivity  records it emits for each that it processes
    increasing   whether what it receives grows
    shares       the part of each parent's output that it gets
    cpu_cores    cores that one instance claims
    """

    load: float
    pending: float
    degree: int
    capacity: float
    selectivity: float
    increasing: bool
    shares: Mapping[str, float]
    cpu_cores: float = 1.0

    @property
    def activity(self) -> float:
        return (self.load + self.pending) / self.capacity

    def local_degree(self, low: float, high: float) -> int:
        """The degree that it asks for by itself: its activity in instances, rounded to the nearest, at least one.

        Underused and not increasing, it shrinks; nearly full and increasing, it gets one more than that; beyond its
        capacity it grows. In all other cases it stays.
        """
        wanted = max(1, math.floor(self.degree * self.activity + 0.5))
        if self.activity <= low and not self.increasing:
            return min(wanted, self.degree)
        if high < self.activity <= 1.0 and self.increasing:
            return max(wanted + 1, self.degree)
        return max(wanted, self.degree) if self.activity > 1.0 else self.degree

    def degree_for(self, records: float) -> int:
        """The degree at which so many records are no more than the capacity; at least one."""
        return max(1, math.ceil(self.degree * records / self.capacity - EXACT))

    def degree_within_cpu(self, alpha: float) -> int:
        """The fewest instances that process all, with no more of their cores than they claim and balancing leaves."""
        each = math.ceil(self.capacity / self.degree * min(1.0, self.cpu_cores) * (1.0 - alpha) - EXACT)
        return math.floor((self.load + self.pending) / max(each, 1)) + 1


def degrees(topology: Topology, demands: Mapping[str, Demand], low: float, high: float, alpha: float) -> dict[str, int]:
    """The new degree of every operator, within its bounds.

    Parents come before children. Where a parent grows, an operator gets at least the degree that the impact of its
    parents needs: a scale-in becomes smaller, is cancelled or turned round, and a scale-out is raised. One that was to
    stay and grows for that passes the impact on, as far as its present instances can process it. A degree that changes
    must also be one that the instances' claims on CPU can carry.
    """
    loads = {name: demand.load for name, demand in demands.items()}
    grows: set[str] = set()
    result: dict[str, int] = {}
    for name in topology.order:
        demand, parents = demands[name], topology.parents[name]
        degree = topology.clamp(name, demand.local_degree(low, high))
        if not grows.isdisjoint(parents):
            impact = fsum(loads[p] * demands[p].selectivity * demand.shares[p] for p in parents)
            raised = topology.clamp(name, max(degree, demand.degree_for(impact)))
            if raised > demand.degree == degree:
                loads[name] = min(impact, demand.capacity)
            degree = raised
        if degree > demand.degree:
            grows.add(name)
            degree = max(degree, demand.degree_within_cpu(alpha))
        elif degree < demand.degree:
            degree = min(max(degree, demand.degree_within_cpu(alpha)), demand.degree)
        result[name] = topology.clamp(name, degree)
    return result
