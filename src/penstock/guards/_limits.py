"""The bounds of each operator, with those that are tied or share their instances as one group."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from penstock.model import Plan, Topology


@dataclass(frozen=True, slots=True)
class Group:
    """Operators that share one parallelism, from `least` to `most`; most often it is one.

    chains  how many chains they are: each has as many slots as the parallelism says
    """

    names: tuple[str, ...]
    least: int
    most: int
    chains: int


def groups(topology: Topology, plan: Plan | None = None) -> tuple[Group, ...]:
    """The operators by tie, in the order of the topology; with a plan, also those that share their instances under it.

    >>> from penstock.model import Operator
    >>> line = Topology.chain("read", Operator("parse", chained=True), Operator("count"))
    >>> [group.names for group in groups(line, Plan({"read": 2, "parse": 2, "count": 2}))]
    [('read', 'parse'), ('count',)]
    """
    together = {name: {name} for name in topology.names}
    ties = dict.fromkeys(operator.tie for operator in topology.operators if operator.tie is not None)
    tied = [tuple(each.name for each in topology.operators if each.tie == tie) for tie in ties]
    for names in (*tied, *(() if plan is None else topology.chains(plan.parallelism))):
        joined = set().union(*(together[name] for name in names))
        together.update(dict.fromkeys(joined, joined))
    found = dict.fromkeys(tuple(each for each in topology.names if each in together[name]) for name in topology.names)
    return tuple(_group(topology, names) for names in found)


def _group(topology: Topology, names: tuple[str, ...]) -> Group:
    least = max(topology[name].min for name in names)
    # The minimum wins over the source's partitions.
    most = max(least, min(topology.ceiling(name) for name in names))
    return Group(names, least, most, _chains_of(names, topology))


def _chains_of(names: Iterable[str], topology: Topology) -> int:
    """How many chains operators are that have one parallelism, which no other operator has."""
    alike = set(names)
    return sum(chain[0] in alike for chain in topology.chains({name: 1 + (name in alike) for name in topology.names}))


def inside(plan: Plan, topology: Topology) -> Plan:
    """The nearest plan that can be run: inside all limits, tied operators at the largest number of their group.

    >>> from penstock.model import Operator
    >>> job = Topology((Operator("join", tie="state", max=8), Operator("count", tie="state"), Operator("write", min=2)))
    >>> str(inside(Plan({"join": 3, "count": 20, "write": 1}), job))
    'join 8, count 8, write 2'
    """
    parallelism = {}
    for group in groups(topology):
        largest = max(plan[name] for name in group.names)
        parallelism.update(dict.fromkeys(group.names, min(max(largest, group.least), group.most)))
    return plan.changed(parallelism)
