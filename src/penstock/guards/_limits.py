"""The bounds of each operator, with tied operators as one group."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.model import Plan, Topology


@dataclass(frozen=True, slots=True)
class Group:
    """Operators that share one parallelism, from `least` to `most`; an operator without a tie stands alone."""

    names: tuple[str, ...]
    least: int
    most: int


def groups(topology: Topology) -> tuple[Group, ...]:
    """The operators by tie, in the order of the topology."""
    members: dict[tuple[str, str], list[str]] = {}
    for operator in topology.operators:
        key = ("alone", operator.name) if operator.tie is None else ("tied", operator.tie)
        members.setdefault(key, []).append(operator.name)
    return tuple(_group(topology, tuple(names)) for names in members.values())


def _group(topology: Topology, names: tuple[str, ...]) -> Group:
    least = max(topology[name].min for name in names)
    # The minimum wins over the source's partitions.
    return Group(names, least, max(least, min(topology.ceiling(name) for name in names)))


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
