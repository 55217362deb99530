"""The job as a graph: operators, and the edges along which records flow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

from penstock.model.errors import InvalidValueError, check_choice, check_required_number, check_whole, unknown

JOB = "job"
"""The name of the one operator that a query is which is measured as a whole."""


class Actuation(StrEnum):
    """What a change of parallelism costs an operator."""

    LIVE = "live"  # takes effect while data flows
    RESTART = "restart"  # the job stops and starts again from its checkpoint
    STATE_REPARTITION = "state_repartition"  # as restart, and the state is redistributed in between


@dataclass(frozen=True, slots=True)
class Operator:
    """A step of the job, run by a number of instances.

    name        what the plan, the samples and the edges call it
    min         the fewest instances that it may have
    max         the most instances that it may have
    stateful    whether it keeps state from record to record
    actuation   what a change of its parallelism costs: live, restart or state_repartition
    tie         operators with the same tie always have the same parallelism, as the stateful operators of one
                native Spark query do
    cpu_cores   cores that one instance claims of its worker
    memory_mb   megabytes that one instance claims of its worker
    chained     whether it shares the instances of the operator in front of it where both have as many
    readers     tasks that read a topic for it, each in a slot of its own; with as many instances it reads itself
    """

    name: str
    min: int = 1
    max: int = 100
    stateful: bool = False
    actuation: Actuation = Actuation.LIVE
    tie: str | None = None
    cpu_cores: float = 1.0
    memory_mb: float = 0.0
    chained: bool = False
    readers: int = 0

    def __post_init__(self) -> None:
        if not self.name or not isinstance(self.name, str):
            raise InvalidValueError("operator name", f"must be a word, not {self.name!r}")
        check_whole(f"operator {self.name}: min", self.min, 1)
        check_whole(f"operator {self.name}: max", self.max, 1)
        check_whole(f"operator {self.name}: readers", self.readers)
        check_required_number(f"operator {self.name}: cpu_cores", self.cpu_cores)
        check_required_number(f"operator {self.name}: memory_mb", self.memory_mb)
        check_choice(f"operator {self.name}: actuation", self.actuation, [kind.value for kind in Actuation])
        object.__setattr__(self, "actuation", Actuation(self.actuation))
        if self.min > self.max:
            raise InvalidValueError(f"operator {self.name}: min", f"must not exceed max, but {self.min} > {self.max}")


@dataclass(frozen=True)
class Topology:
    """A directed acyclic graph of operators. Those without a parent are roots and read the outside stream.

    `source_partitions` caps the roots: a reader without a partition to read has nothing to do.

    >>> diamond = Topology(
    ...     (Operator("read"), Operator("left"), Operator("right"), Operator("join")),
    ...     (("read", "left"), ("read", "right"), ("left", "join"), ("right", "join")),
    ... )
    >>> diamond.roots, diamond.leaves, diamond.parents["join"]
    (('read',), ('join',), ('left', 'right'))
    """

    operators: tuple[Operator, ...]
    edges: tuple[tuple[str, str], ...] = ()
    source_partitions: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "operators", tuple(self.operators))
        object.__setattr__(self, "edges", tuple(_pair(edge) for edge in self.edges))
        if not self.operators:
            raise InvalidValueError("operators", "must name at least one operator")
        for operator in self.operators:
            if not isinstance(operator, Operator):
                raise InvalidValueError("operators", f"must each be an Operator, not {operator!r}")
        names = [operator.name for operator in self.operators]
        for name, count in Counter(names).items():
            if count > 1:
                raise InvalidValueError("operators", f"must have different names, but {name!r} stands twice")
        known = set(names)
        for edge, count in Counter(self.edges).items():
            for end in edge:
                if end not in known:
                    raise InvalidValueError(f"edges: {edge[0]} -> {edge[1]}:", unknown(end, names))
            if count > 1:
                raise InvalidValueError("edges", f"must differ, but {edge[0]} -> {edge[1]} stands twice")
        if self.source_partitions is not None:
            check_whole("source_partitions", self.source_partitions, 1)
        self._check_ties()
        _ = self.order  # refuses a cycle now, not when somebody first walks the graph

    def _check_ties(self) -> None:
        for tie in dict.fromkeys(operator.tie for operator in self.operators if operator.tie is not None):
            tied = [operator for operator in self.operators if operator.tie == tie]
            least, most = max(operator.min for operator in tied), min(operator.max for operator in tied)
            if least > most:
                raise InvalidValueError(f"tie {tie}", f"cannot hold: one operator has min {least}, another max {most}")

    @classmethod
    def chain(cls, *operators: Operator | str) -> Topology:
        """Operators one behind the other.

        >>> Topology.chain("split", Operator("count", max=8)).edges
        (('split', 'count'),)
        """
        links = tuple(Operator(link) if isinstance(link, str) else link for link in operators)
        return cls(links, tuple((a.name, b.name) for a, b in pairwise(links)))

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(operator.name for operator in self.operators)

    @cached_property
    def parents(self) -> dict[str, tuple[str, ...]]:
        return self._joined((child, parent) for parent, child in self.edges)

    @cached_property
    def children(self) -> dict[str, tuple[str, ...]]:
        return self._joined(self.edges)

    def _joined(self, pairs: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
        """What stands beside each name in the pairs, in their order."""
        beside: dict[str, list[str]] = {name: [] for name in self.names}
        for name, other in pairs:
            beside[name].append(other)
        return {name: tuple(others) for name, others in beside.items()}

    @cached_property
    def roots(self) -> tuple[str, ...]:
        return tuple(name for name in self.names if not self.parents[name])

    @cached_property
    def leaves(self) -> tuple[str, ...]:
        return tuple(name for name in self.names if not self.children[name])

    @cached_property
    def order(self) -> tuple[str, ...]:
        """Every operator after all of its parents; among equals, as they were given."""
        sorter = TopologicalSorter({name: self.parents[name] for name in self.names})
        place = {name: number for number, name in enumerate(self.names)}
        try:
            sorter.prepare()
        except CycleError as error:
            raise InvalidValueError("edges", f"must not form a cycle: {' -> '.join(error.args[1])}") from None
        ordered: list[str] = []
        while sorter.is_active():
            ready = sorted(sorter.get_ready(), key=place.__getitem__)
            ordered += ready
            sorter.done(*ready)
        return tuple(ordered)

    @cached_property
    def _by_name(self) -> dict[str, Operator]:
        return {operator.name: operator for operator in self.operators}

    def __getitem__(self, name: str) -> Operator:
        try:
            return self._by_name[name]
        except KeyError:
            raise InvalidValueError("operator", unknown(name, self.names)) from None

    def chains(self, parallelism: Mapping[str, int]) -> tuple[tuple[str, ...], ...]:
        """Operators that share their instances, in the order of the flow; most often each is a chain by itself.

        A fan-out and a fan-in end a chain.

        >>> line = Topology.chain("read", Operator("parse", chained=True), Operator("count"))
        >>> line.chains({"read": 2, "parse": 2, "count": 2}), line.chains({"read": 1, "parse": 2, "count": 2})
        ((('read', 'parse'), ('count',)), (('read',), ('parse',), ('count',)))
        """
        ends: dict[str, list[str]] = {}  # by the operator at the end of each chain
        for name in self.order:
            before = self._joined_to[name]
            if before is not None and parallelism[before] == parallelism[name]:
                ends[name] = [*ends.pop(before), name]
            else:
                ends[name] = [name]
        return tuple(map(tuple, ends.values()))

    def readers(self, parallelism: Mapping[str, int]) -> int:
        """Slots of tasks that only read: those in front of an operator with as many instances are its own."""
        return sum(each.readers for each in self.operators if each.readers and parallelism[each.name] != each.readers)

    @cached_property
    def may_chain(self) -> bool:
        """Whether there is a plan under which operators share their instances, with each other or with readers."""
        return any(self._joined_to.values()) or any(operator.readers for operator in self.operators)

    @cached_property
    def apart(self) -> Topology:
        """The same job with instances of its own for every operator."""
        apart = tuple(replace(operator, chained=False, readers=0) for operator in self.operators)
        return replace(self, operators=apart)

    @cached_property
    def _joined_to(self) -> dict[str, str | None]:
        """The operator whose instances each may share."""
        return {
            name: parents[0]
            if self[name].chained and len(parents) == 1 and len(self.children[parents[0]]) == 1
            else None
            for name, parents in self.parents.items()
        }

    def ceiling(self, name: str) -> int:
        """The highest useful parallelism of an operator: its max, and for a root the source's partitions."""
        most = self[name].max
        if self.source_partitions is not None and not self.parents[name]:
            return max(self[name].min, min(most, self.source_partitions))
        return most

    def clamp(self, name: str, parallelism: int) -> int:
        """The nearest parallelism that the operator may have and can use."""
        return min(max(parallelism, self[name].min), self.ceiling(name))


def _pair(edge: object) -> tuple[str, str]:
    if not isinstance(edge, tuple | list) or len(edge) != 2:
        raise InvalidValueError("edges", f"must be pairs of a parent and a child, not {edge!r}")
    return edge[0], edge[1]
