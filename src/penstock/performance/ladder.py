"""The cheapest plans for rising rates, by queueing theory: one instance after the other, where it helps most.

For the glossary see `job_model`. The heaviest path of a record must stay within a budget of seconds; among the plans
that do, the one that adds an instance where it shortens that path most is the cheapest, as waiting is convex in the
number of instances.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from penstock.model import Topology
from penstock.performance.queueing import erlang_b, erlang_c
from penstock.performance.rungs import Rung, tied

BUSIEST = 0.97
"""Beyond this utilisation queueing theory depends on the last digit of the service time: no plan aims there, and
windows there say nothing about burstiness."""

HALVINGS = 9
"""The limit of a plan is found to within two thousandths of its capacity."""


LEAST_GAIN = 1e-3
"""The part of the budget that one more instance has to save to be worth a slot."""

EXACT = 64
"""Up to so many instances the wait is that of Erlang; beyond, that of Sakasegawa (1977), which takes no k steps."""


def wait(k: int, rho: float, seconds: float) -> float:
    """The mean wait in front of k instances (M/M/k); infinite at and beyond saturation.

    >>> round(wait(1, 0.7, 1.0), 6), round(wait(2, 0.5, 1.0), 6)
    (2.333333, 0.333333)
    """
    if rho >= 1.0:
        return math.inf
    if k > EXACT:
        return float(seconds * rho ** (math.sqrt(2.0 * (k + 1)) - 1.0) / (k * (1.0 - rho)))
    return erlang_c(k, rho * k, erlang_b(k, rho * k)) * seconds / (k * (1.0 - rho))


class Curve(Protocol):
    """What one record takes by the number of instances: see `service_curve`."""

    def at(self, k: int) -> float: ...

    def error(self, k: int) -> float: ...

    def knows(self, k: int) -> bool: ...


@dataclass(frozen=True, slots=True)
class Station:
    """What a planner must know of an operator."""

    curve: Curve
    visits: float
    burstiness: float


class Stations:
    """The operators of a job, and the seconds that a record may spend on the heaviest path through them."""

    def __init__(self, topology: Topology, stations: Mapping[str, Station], budget: float) -> None:
        self.topology, self.stations, self.budget = topology, stations, budget
        self._chain = all(len(topology.parents[n]) <= 1 and len(topology.children[n]) <= 1 for n in topology.names)
        self._chain &= len(topology.roots) == 1
        self._seconds: dict[tuple[str, int], float] = {}
        place = {name: at for at, name in enumerate(topology.order)}
        self._parents = [[place[parent] for parent in topology.parents[name]] for name in topology.order]

    def seconds(self, name: str, k: int) -> float:
        found = self._seconds.get((name, k))
        if found is None:
            found = self._seconds[name, k] = self.stations[name].curve.at(k)
        return found

    def sojourn(self, name: str, k: int, rate: float, most: float = 1.0) -> float:
        """Seconds that a record spends at an operator; infinite from the utilisation `most` on."""
        station, seconds = self.stations[name], self.seconds(name, k)
        rho = rate * station.visits * seconds / k
        return seconds + station.burstiness * wait(k, rho, seconds) if rho < most else math.inf

    def time_inside(self, parallelism: Mapping[str, int], rate: float, most: float = 1.0) -> float:
        """Seconds on the heaviest path."""
        return self._heaviest({name: self.sojourn(name, parallelism[name], rate, most) for name in self.topology.names})

    def _heaviest(self, sojourns: Mapping[str, float]) -> float:
        if self._chain:
            return sum(sojourns.values())
        longest: dict[str, float] = {}
        for name in self.topology.order:
            parents = self.topology.parents[name]
            longest[name] = sojourns[name] + max((longest[p] for p in parents), default=0.0)
        return max(longest.values())

    def capacity(self, parallelism: Mapping[str, int]) -> float:
        return min(
            (k / (self.stations[name].visits * self.seconds(name, k)) for name, k in parallelism.items()
             if self.stations[name].visits > 0),
            default=math.inf,
        )  # fmt: skip

    def rung(self, parallelism: Mapping[str, int]) -> Rung:
        """What a plan can carry."""
        capacity = min(self.capacity(parallelism), 1e15)
        low, high, fits = 0.0, BUSIEST, self._fits(parallelism, capacity)
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if fits(middle) else (low, middle)
        error, known = 0.0, True
        for name, k in parallelism.items():
            curve = self.stations[name].curve
            error, known = max(error, curve.error(k)), known and curve.knows(k)
        return Rung(parallelism, sum(parallelism.values()), low * capacity, capacity, error, known)

    def _fits(self, parallelism: Mapping[str, int], capacity: float) -> Callable[[float], bool]:
        """Whether a record stays within the budget at a share of the capacity; what does not depend on it is done once.

        In the order of the graph, with the places of the parents of each operator in that order.
        """
        terms = []
        for name in self.topology.order:
            k, station, seconds = parallelism[name], self.stations[name], self.seconds(name, parallelism[name])
            full = capacity * station.visits * seconds / k
            terms.append((k, full, station.burstiness, seconds))
        parents, budget, chain = self._parents, self.budget, self._chain

        def fits(share: float) -> bool:
            whole = 0.0
            longest: list[float] = []
            for place, (k, full, burstiness, seconds) in enumerate(terms):
                time = seconds + burstiness * wait(k, share * full, seconds)
                if chain:
                    whole += time
                else:
                    longest.append(time + max([longest[p] for p in parents[place]], default=0.0))
            return (whole if chain else max(longest)) <= budget

        return fits

    def ladder(self, rates: Sequence[float]) -> list[Rung]:
        """The cheapest plan for each of these rising rates, as far as the operators' bounds allow, without repeats."""
        plan = {name: self.topology.clamp(name, 1) for name in self.topology.names}
        rungs: list[Rung] = []
        for rate in rates:
            if rungs and rungs[-1].limit >= rate:
                continue
            grown = tied(self._grown(plan, rate), self.topology)
            if grown != plan or not rungs:
                plan = grown
                rungs.append(self.rung(plan))
        return rungs

    def _grown(self, plan: Mapping[str, int], rate: float) -> dict[str, int]:
        """The plan with as many instances more as the rate needs, each where it shortens the heaviest path most."""
        grown = {name: self._stable(name, k, rate) for name, k in plan.items()}
        sojourns = {name: self.sojourn(name, k, rate) for name, k in grown.items()}
        gains = [(-gain, name) for name in grown if (gain := self._gain(name, grown[name], sojourns[name], rate)) > 0]
        heapq.heapify(gains)
        while gains and (heaviest := self._heaviest(sojourns)) > self.budget:
            gain, name = heapq.heappop(gains)
            if -gain < (math.inf if math.isinf(heaviest) else LEAST_GAIN * self.budget):
                break  # no plan carries this rate, or hardly: instances elsewhere would be for next to nothing
            if not self._chain and self._heaviest({**sojourns, name: 0.0}) >= self._heaviest(sojourns):
                continue  # the heaviest path does not lead through it
            grown[name] += 1
            sojourns[name] = self.sojourn(name, grown[name], rate)
            if (gain := self._gain(name, grown[name], sojourns[name], rate)) > 0:
                heapq.heappush(gains, (-gain, name))
        return grown

    def _stable(self, name: str, k: int, rate: float) -> int:
        """The fewest instances whose queue does not grow, or those from which on more would add nothing: a cap."""
        most, visits = self.topology.ceiling(name), self.stations[name].visits
        while k < most and rate * visits * self.seconds(name, k) / k >= BUSIEST:
            if (k + 1) / self.seconds(name, k + 1) <= k / self.seconds(name, k):
                break
            k += 1
        return k

    def _gain(self, name: str, k: int, sojourn: float, rate: float) -> float:
        """Seconds that one more instance saves."""
        if k >= self.topology.ceiling(name):
            return 0.0
        after = self.sojourn(name, k + 1, rate)
        if math.isfinite(sojourn):
            return sojourn - after
        return math.inf if math.isfinite(after) else 0.0
