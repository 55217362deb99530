"""Dp-Stream's latency: how long each operator needs for what arrives in a moment, summed along the critical path.

Glossary (equations 6 to 9):

    r_i   records per second that reach operator i
    dt    the moment looked at, in seconds
    p_i   records per second that one instance processes
    B     records per second that the network carries between two workers
    w_i   weight of an operator, 1 unless given
    Tp_i  seconds to process what arrives in dt: r_i dt / (k_i p_i)
    Ts_i  seconds to send it on, where sender and receiver run on different workers: r_i dt / B
    T_i   w_i (Tp_i + Ts_i)
    T     sum of T_i over the critical path

Tp_i / dt is the utilisation of the operator: it keeps up while Tp_i is at most dt.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from penstock.model import Topology
from penstock.performance.critical_path import critical_path
from penstock.performance.placement import Placement


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
    bandwidth: float | None = None
    placement: Placement | None = None
    weights: Mapping[str, float] = field(default_factory=dict)

    def processing_time(self, name: str, parallelism: int) -> float:
        """Tp_i by equation 6, for identical instances."""
        return self.arriving[name] * self.moment / (parallelism * self.processing_rate[name])

    def transmission_time(self, name: str) -> float:
        """Ts_i by equation 7, to the child with the largest share of remote pairs.

        With several instances at both ends, only the pairs on different workers send over the network.
        """
        if self.bandwidth is None or self.placement is None:
            return 0.0
        share = max((apart(self.placement, name, child) for child in self.topology.children[name]), default=0.0)
        return share * self.arriving[name] * self.moment / self.bandwidth

    def operator_latency(self, name: str, parallelism: int) -> float:
        """T_i, by equation 8."""
        return self.weights.get(name, 1.0) * (self.processing_time(name, parallelism) + self.transmission_time(name))

    def critical_operators(self, parallelism: Mapping[str, int]) -> tuple[str, ...]:
        return critical_path(self.topology, self._latencies(parallelism))

    def job_latency(self, parallelism: Mapping[str, int]) -> float:
        """T, by equation 9."""
        latencies = self._latencies(parallelism)
        return sum(latencies[name] for name in critical_path(self.topology, latencies))

    def _latencies(self, parallelism: Mapping[str, int]) -> dict[str, float]:
        return {name: self.operator_latency(name, parallelism[name]) for name in self.topology.names}


def apart(placement: Placement, sender: str, receiver: str) -> float:
    """The share of pairs of instances, one of each operator, that run on different workers.

    >>> apart({"split": ("a", "b"), "count": ("b",)}, "split", "count")
    0.5
    """
    here, there = Counter(placement.get(sender, ())), Counter(placement.get(receiver, ()))
    pairs = here.total() * there.total()
    return 1.0 - sum(here[worker] * there[worker] for worker in here) / pairs if pairs else 0.0
