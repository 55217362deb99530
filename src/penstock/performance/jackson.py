"""An open Jackson network: every operator an M/M/k queue, fed by the outside and by its parents.

Glossary (DRS):

    lambda_0  records per second that enter the job
    lambda_i  records per second that reach operator i
    mu_i      records per second that one instance of operator i processes
    T_i       mean seconds from a record's arrival at operator i to its departure
    E[T]      mean seconds a record spends in the job, at all operators it visits: sum of (lambda_i / lambda_0) * T_i
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from penstock.performance.queueing import erlang_b, erlang_c

ROUNDING = 1e-9
"""Measured rates are quotients: a load of 1.9999999999 instances counts as 2."""


@dataclass(frozen=True, slots=True)
class Station:
    """An operator with `instances`. It keeps its Erlang B, so that one more instance costs one step, not k.

    >>> station = Station.of(2, arrival_rate=1.0, service_rate=1.0)
    >>> round(station.sojourn, 6), station.grown() == Station.of(3, 1.0, 1.0)
    (1.333333, True)
    """

    instances: int
    arrival_rate: float
    service_rate: float
    erlang_b: float

    @classmethod
    def of(cls, instances: int, arrival_rate: float, service_rate: float) -> Station:
        return cls(instances, arrival_rate, service_rate, erlang_b(instances, arrival_rate / service_rate))

    def grown(self) -> Station:
        """The same operator with one more instance."""
        k, a = self.instances + 1, self.arrival_rate / self.service_rate
        return Station(k, self.arrival_rate, self.service_rate, a * self.erlang_b / (k + a * self.erlang_b))

    @property
    def wait(self) -> float:
        """Mean seconds in the queue; infinite at and beyond saturation."""
        spare = self.instances * self.service_rate - self.arrival_rate
        if spare <= 0:
            return math.inf
        return erlang_c(self.instances, self.arrival_rate / self.service_rate, self.erlang_b) / spare

    @property
    def sojourn(self) -> float:
        """T_i: mean seconds in queue and service."""
        return self.wait + 1.0 / self.service_rate


def stable_instances(arrival_rate: float, service_rate: float) -> int:
    """The smallest number of instances whose queue does not grow without end.

    >>> stable_instances(10, 4), stable_instances(8, 4), stable_instances(0, 4)
    (3, 3, 1)
    """
    return math.floor(arrival_rate / service_rate + ROUNDING) + 1


def mean_sojourn(stations: Mapping[str, Station], entering: float) -> float:
    """E[T] in seconds of a job that `entering` records reach each second; 0 if none does.

    >>> chain = {"split": Station.of(1, 5.0, 10.0), "count": Station.of(1, 10.0, 20.0)}
    >>> round(mean_sojourn(chain, entering=5.0), 6)
    0.4
    """
    if entering <= 0:
        return 0.0
    reached = (station for station in stations.values() if station.arrival_rate > 0)
    return math.fsum(station.arrival_rate / entering * station.sojourn for station in reached)
