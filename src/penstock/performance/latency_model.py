"""Dp-Stream's latency: how long each operator needs for what arrives in a moment, summed along the critical path.

Glossary (equations 6 to 9):

    r_i   records per second that reach operator i
    dt    the moment looked at, in seconds
    p_i   records per second that one instance processes
    B_ij  records per second that the network carries between two workers
    w_i   weight of an operator, 1 unless given
    Tp_i  seconds to process what arrives in dt: r_i dt / (k_i p_i)
    Ts_i  seconds to send it on to the next operator of the path, where the two run on different workers: r_i dt / B_ij
    T_i   w_i (Tp_i + Ts_i)
    T     sum of T_i over the critical path, which is the heaviest by processing and sending together

Tp_i / dt is the utilisation of the operator: it keeps up while Tp_i is at most dt.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import fsum

from penstock.model import Topology
from penstock.performance.critical_path import critical_path
from penstock.performance.placement import Placement

Bandwidth = float | Mapping[str, Mapping[str, float]] | None
"""B_ij: the same between all workers, or by the two of them (in either order; a pair that is not named: no limit)."""


@dataclass(frozen=True, slots=True)
class LatencyModel:
    """The latencies of a job under a load.

    Where `placement` is unknown or `bandwidth` unlimited (None), sending takes no time.

    >>> from penstock.model import Operator
    >>> job = Topology((Operator("split"), Operator("count")), (("split", "count"),))
    >>> model = LatencyModel(job, {"split": 100.0, "count": 400.0}, {"split": 125.0, "count": 250.0}, moment=0.001)
    >>> model.operator_latency("split", 1), model.job_latency({"split": 1, "count": 4})
    (0.0008, 0.0012000000000000001)
    """

    topology: Topology
    arriving: Mapping[str, float]
    processing_rate: Mapping[str, float]
    moment: float
    bandwidth: Bandwidth = None
    placement: Placement | None = None
    weights: Mapping[str, float] = field(default_factory=dict)

    def processing_time(self, name: str, parallelism: int) -> float:
        """Tp_i by equation 6, for identical instances."""
        return self.arriving[name] * self.moment / (parallelism * self.processing_rate[name])

    def transmission_time(self, sender: str, receiver: str) -> float:
        """Ts_i by equation 7, to the operator that follows on the path.

        With several instances at both ends it is the mean over their pairs: one on the same worker takes no time.
        """
        if self.bandwidth is None or self.placement is None:
            return 0.0
        here, there = Counter(self.placement.get(sender, ())), Counter(self.placement.get(receiver, ()))
        pairs = here.total() * there.total()
        if not pairs:
            return 0.0
        a_record = fsum(here[a] * there[b] / pairs / self._between(a, b) for a in here for b in there if a != b)
        return a_record * self.arriving[sender] * self.moment

    def _between(self, one: str, other: str) -> float:
        if not isinstance(self.bandwidth, Mapping):
            return math.inf if self.bandwidth is None else self.bandwidth
        named = self.bandwidth.get(one, {}).get(other)
        return self.bandwidth.get(other, {}).get(one, math.inf) if named is None else named

    def operator_latency(self, name: str, parallelism: int, following: str | None = None) -> float:
        """T_i by equation 8, on a path on which it is followed by another operator, or by none."""
        sending = 0.0 if following is None else self.transmission_time(name, following)
        return self._weight(name) * (self.processing_time(name, parallelism) + sending)

    def critical_operators(self, parallelism: Mapping[str, int]) -> tuple[str, ...]:
        """The operators of the critical path, from its beginning to its end."""
        return critical_path(
            self.topology,
            {name: self.operator_latency(name, parallelism[name]) for name in self.topology.names},
            {(p, c): self._weight(p) * self.transmission_time(p, c) for p, c in self.topology.edges},
        )

    def path_latencies(self, parallelism: Mapping[str, int]) -> dict[str, float]:
        """T_i of each operator on the critical path."""
        path = self.critical_operators(parallelism)
        steps = zip(path, (*path[1:], None), strict=True)
        return {name: self.operator_latency(name, parallelism[name], following) for name, following in steps}

    def job_latency(self, parallelism: Mapping[str, int]) -> float:
        """T, by equation 9."""
        return sum(self.path_latencies(parallelism).values())

    def _weight(self, name: str) -> float:
        return self.weights.get(name, 1.0)
