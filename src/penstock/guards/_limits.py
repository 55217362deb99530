"""The bounds of each operator, with those that are tied or share their instances as one group."""

from __future__ import annotations

from collections import Counter
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
    ties: dict[str, list[str]] = {}
    for operator in topology.operators:
        if operator.tie is not None:
            ties.setdefault(operator.tie, []).append(operator.name)
    together = {name: [name] for name in topology.names}
    for names in (*ties.values(), *(() if plan is None else topology.chains(plan.parallelism))):
        parts = {id(together[name]): together[name] for name in names}
        joined = [each for members in parts.values() for each in members]
        together.update(dict.fromkeys(joined, joined))
    found = list({id(members): members for members in together.values()}.values())
    number = {name: n for n, members in enumerate(found, 1) for name in members}
    chains = Counter(number[chain[0]] for chain in topology.chains(number))  # only those within a group: none is alike
    return tuple(_group(topology, tuple(members), chains[n]) for n, members in enumerate(found, 1))


def _group(topology: Topology, names: tuple[str, ...], chains: int) -> Group:
    least = max(topology[name].min for name in names)
    # The minimum wins over the source's partitions.
    return Group(names, least, max(least, min(topology.ceiling(name) for name in names)), chains)


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
