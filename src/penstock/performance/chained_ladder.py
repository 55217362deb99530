"""The cheapest plans of a job whose operators may share their instances, by the same queueing theory as `ladder`.

Operators of a chain are one station: a record takes the sum of their service times there, and waits once. So a plan is
judged with each of its chains as one operator. Plans are looked for with neighbours tied to one number, as far as they
can share their instances; with those apart that may have fewer than the others; and with each operator by itself. Two
neighbours that come to the same number by chance would share their instances; with one more for one they do not.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from penstock.model import Topology
from penstock.performance.ladder import Curve, Station, Stations
from penstock.performance.rungs import Rung, tied

Chains = tuple[tuple[str, ...], ...]

BUSY_READERS = 0.85
"""Operators that share the instances of readers keep them at most this busy: readers do not become more."""


@dataclass(frozen=True, slots=True)
class SharedCurve:
    """What one record takes on its way through a chain: each part with its visits for one of the first."""

    parts: tuple[tuple[Curve, float], ...]

    def at(self, k: int) -> float:
        return sum(visits * curve.at(k) for curve, visits in self.parts)

    def error(self, k: int) -> float:
        return max(curve.error(k) for curve, _ in self.parts)

    def knows(self, k: int) -> bool:
        return all(curve.knows(k) for curve, _ in self.parts)


class ChainedStations:
    """The operators of a job, of which some may share their instances; else as `Stations`.

    budget  the seconds that a record may spend in queues and service if it is handed on so many times: that takes time
    """

    def __init__(self, topology: Topology, stations: Mapping[str, Station], budget: Callable[[int], float]) -> None:
        self.topology, self.stations, self.budget = topology, stations, budget
        self._known: dict[tuple[Chains, bool], Stations] = {}

    def time_inside(self, parallelism: Mapping[str, int], rate: float, most: float = 1.0) -> float:
        chains = self.topology.chains(parallelism)
        return self._joined(chains).time_inside({chain[0]: parallelism[chain[0]] for chain in chains}, rate, most)

    def rung(self, parallelism: Mapping[str, int]) -> Rung:
        chains, readers = self.topology.chains(parallelism), self.topology.readers(parallelism)
        rung = self._joined(chains, readers > 0).rung({chain[0]: parallelism[chain[0]] for chain in chains})
        return replace(rung, parallelism=parallelism, slots=rung.slots + readers)

    def ladder(self, rates: Sequence[float]) -> list[Rung]:
        """Plans for these rising rates, by rising limits. None has as many slots as one that carries more."""
        plans = [
            {name: rung.parallelism[chain[0]] for chain in chains for name in chain}
            for chains in dict.fromkeys((tied_chains(self.topology), tied_chains(self.topology, same_ceiling=True)))
            for rung in self._joined(chains).ladder(rates)
        ]
        each_alone = self._joined(tuple((name,) for name in self.topology.order))
        apart = [dict(rung.parallelism) for rung in each_alone.ladder(rates)]
        plans += [*apart, *(parted(plan, self.topology) for plan in apart)]
        plans += [reading(plan, self.topology) for plan in plans]
        plans += self._read_by_the_first(rates)
        rungs = [self.rung(tied(plan, self.topology)) for plan in plans]
        found: list[Rung] = []
        for rung in sorted(rungs, key=lambda rung: (rung.slots, -rung.limit)):
            if not found or rung.limit > found[-1].limit:
                found.append(rung)
        return found

    def _read_by_the_first(self, rates: Sequence[float]) -> list[dict[str, int]]:
        """Plans in which the first operators of a chain read themselves, as many as can, and the others are parted from
        them: beside readers that nobody shares, the same instances would hold more slots."""
        whole, cuts = tied_chains(self.topology), dict[tuple[tuple[str, ...], int], list[float]]()
        for chain in whole:
            if readers := self.topology[chain[0]].readers:
                known = [self.stations[name] for name in chain]
                seconds = list(accumulate(each.visits * each.curve.at(readers) for each in known))
                for rate in filter(None, rates):
                    able = bisect_right(seconds, BUSY_READERS * readers / rate)
                    if 0 < able < len(chain):
                        cuts.setdefault((chain, able), []).append(rate)
        plans: list[dict[str, int]] = []
        for (chain, able), those in cuts.items():
            first, rest = chain[:able], chain[able:]
            parts = tuple(part for each in whole for part in ((first, rest) if each == chain else (each,)))
            readers = self.topology[chain[0]].readers
            for rung in self._joined(parts).ladder(those):
                plan = {name: rung.parallelism[part[0]] for part in parts for name in part}
                behind = plan[rest[0]] + (plan[rest[0]] == readers)  # with as many they would share
                wanted = {**dict.fromkeys(first, readers), **dict.fromkeys(rest, behind)}
                plans.append(plan | {name: self.topology.clamp(name, k) for name, k in wanted.items()})
        return plans

    def _joined(self, chains: Chains, read_for: bool = False) -> Stations:
        """The job with each chain as one station, which has the name of its first operator.

        read_for  whether tasks read for them, and hand the records on
        """
        if (chains, read_for) not in self._known:
            topology, stations = joined(self.topology, chains), {chain[0]: self._station(chain) for chain in chains}
            budget = self.budget(longest_path(topology) - 1 + read_for)
            self._known[chains, read_for] = Stations(topology, stations, budget)
        return self._known[chains, read_for]

    def _station(self, chain: tuple[str, ...]) -> Station:
        first, parts = self.stations[chain[0]], [self.stations[name] for name in chain]
        visits = first.visits or 1.0
        return Station(
            SharedCurve(tuple((each.curve, each.visits / visits) for each in parts)), first.visits, first.burstiness
        )


def joined(topology: Topology, chains: Chains) -> Topology:
    """The job with each chain as one operator, which has the name of its first."""
    first = {name: chain[0] for chain in chains for name in chain}
    edges = dict.fromkeys((first[a], first[b]) for a, b in topology.edges if first[a] != first[b])
    operators = []
    for chain in chains:
        least, most = bounds(topology, chain)
        operators.append(replace(topology[chain[0]], min=least, max=max(least, most), tie=None, chained=False))
    return Topology(tuple(operators), tuple(edges), topology.source_partitions)


def hops(topology: Topology, parallelism: Mapping[str, int]) -> int:
    """How many times a record is handed on, on its longest way: from a reader, and from one chain to the next.

    >>> from penstock.model import Operator
    >>> job = Topology.chain(Operator("parse", readers=2), Operator("count", chained=True))
    >>> [hops(job, {"parse": parse, "count": count}) for parse, count in ((2, 2), (2, 3), (1, 3))]
    [0, 1, 2]
    """
    read_for = topology.readers(parallelism) > 0
    return longest_path(joined(topology, topology.chains(parallelism))) - 1 + read_for


def bounds(topology: Topology, operators: Sequence[str]) -> tuple[int, int]:
    """The fewest and the most instances that operators may have together."""
    return max(topology[name].min for name in operators), min(topology[name].max for name in operators)


def longest_path(topology: Topology) -> int:
    """How many operators a record passes on the longest way through the job.

    >>> longest_path(Topology.chain("read", "parse", "count"))
    3
    """
    passed: dict[str, int] = {}
    for name in topology.order:
        passed[name] = 1 + max((passed[parent] for parent in topology.parents[name]), default=0)
    return max(passed.values())


def tied_chains(topology: Topology, same_ceiling: bool = False) -> Chains:
    """The longest chains that a plan can have.

    With `same_ceiling`, of operators that may have equally many: one that may have fewer does not hold back the others.
    """
    found: list[tuple[str, ...]] = []
    for chain in topology.chains(dict.fromkeys(topology.names, 1)):
        open_chain: tuple[str, ...] = ()
        for name in chain:
            least, most = bounds(topology, (*open_chain, name))
            differs = same_ceiling and any(topology.ceiling(each) != topology.ceiling(name) for each in open_chain)
            if least > most or differs:
                found.append(open_chain)
                open_chain = ()
            open_chain = (*open_chain, name)
        found.append(open_chain)
    return tuple(found)


def parted(parallelism: Mapping[str, int], topology: Topology) -> dict[str, int]:
    """The plan with one instance more where neighbours would share theirs, as far as they may have it.

    >>> from penstock.model import Operator
    >>> parted({"parse": 2, "count": 2}, Topology.chain("parse", Operator("count", chained=True)))
    {'parse': 2, 'count': 3}
    """
    plan = dict(parallelism)
    for name in topology.order:
        if any(name in chain[1:] for chain in topology.chains(plan)):
            plan[name] = topology.clamp(name, plan[name] + 1)
    return plan


def reading(parallelism: Mapping[str, int], topology: Topology) -> dict[str, int]:
    """The plan with as many instances more that chains behind readers read themselves, as far as they may have them.

    >>> from penstock.model import Operator
    >>> reading({"parse": 1, "count": 1}, Topology.chain(Operator("parse", readers=2), Operator("count", chained=True)))
    {'parse': 2, 'count': 2}
    """
    plan = dict(parallelism)
    for chain in topology.chains(parallelism):
        readers = topology[chain[0]].readers
        if readers > plan[chain[0]]:
            plan |= {name: topology.clamp(name, readers) for name in chain}
    return plan


def with_room(parallelism: Mapping[str, int], work: Mapping[str, float], topology: Topology) -> dict[str, int]:
    """The plan with as many instances more as its chains need for the work of all their operators.

    work  instances that each operator would keep busy by itself

    >>> from penstock.model import Operator
    >>> job = Topology.chain("parse", Operator("count", chained=True))
    >>> with_room({"parse": 1, "count": 1}, {"parse": 0.7, "count": 0.8}, job)
    {'parse': 2, 'count': 2}
    """
    plan = dict(parallelism)
    while True:
        grown = dict(plan)
        for chain in topology.chains(plan):
            needed = math.ceil(sum(work[name] for name in chain) - 1e-9)
            if needed > plan[chain[0]]:
                grown |= {name: max(plan[name], topology.clamp(name, needed)) for name in chain}
        if grown == plan:
            return plan
        plan = grown
