"""Cuts a plan to a number of slots, so that no operator becomes the bottleneck alone."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping

from penstock.guards._limits import Group, groups, inside
from penstock.model import Execution, Plan, Topology


def cut_to(slots: int, asked: Plan, needed: Plan, topology: Topology, execution: Execution) -> Plan:
    """The plan that is left of `asked` if it may take so many slots, by the engine's own count.

    Every operator is left at least the same share of what is `needed`, the largest that fits (never below its min,
    never above what was asked); instances left over go one by one to the operator with the smallest share. Operators
    that are tied, or are to share their instances, are cut as one. Where even the minima take more slots, they are the
    plan.

    >>> from penstock.model import Operator
    >>> job, asked = Topology((Operator("split"), Operator("count"))), Plan({"split": 2, "count": 8})
    >>> str(cut_to(5, asked, asked, job, Execution.CONCURRENT)), str(cut_to(5, asked, asked, job, Execution.SEQUENTIAL))
    ('split 1, count 4', 'split 2, count 5')
    """
    asked, needed = inside(asked, topology), inside(needed, topology)
    if execution.slots(asked, topology) <= slots:
        return asked
    if execution is Execution.SEQUENTIAL:
        most = max(slots, 1)
        return inside(asked.changed({name: min(k, most) for name, k in asked.parallelism.items()}), topology)
    readers = sum(operator.readers for operator in topology.operators)
    return asked.changed(_shared_out(slots - readers, asked, needed, topology))


def _shared_out(slots: int, asked: Plan, needed: Plan, topology: Topology) -> dict[str, int]:
    """Parallelism for each operator, at the largest common share of `needed` that the slots allow."""
    together = groups(topology, needed)
    need = {group: needed[group.names[0]] for group in together}
    most = {group: min(asked[name] for name in group.names) for group in together}
    whole = max(need.values())  # a share is level / whole: fine enough that a level adds at most one to any group

    def at(level: int) -> dict[Group, int]:
        return {g: min(max(_rounded_up(need[g] * level, whole), g.least), most[g]) for g in together}

    highest = max(_rounded_up(most[group] * whole, need[group]) for group in together)
    level = bisect_right(range(highest + 1), slots, key=lambda level: _cost(at(level))) - 1
    granted = at(max(level, 0))
    spare = slots - _cost(granted)
    # Less than one level is left to hand out, so this ends after one instance for each group.
    while fitting := [group for group in together if granted[group] < most[group] and group.chains <= spare]:
        poorest = min(fitting, key=lambda group: granted[group] / need[group])
        granted[poorest] += 1
        spare -= poorest.chains
    return {name: k for group, k in granted.items() for name in group.names}


def _rounded_up(dividend: int, divisor: int) -> int:
    return -(-dividend // divisor)


def _cost(parallelism: Mapping[Group, int]) -> int:
    return sum(k * group.chains for group, k in parallelism.items())
