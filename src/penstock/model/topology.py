"""The job as a graph: operators, and the edges along which records flow."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

from penstock.model.errors import InvalidValueError, check_choice, check_required_number, check_whole, unknown


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
    """

    name: str
    min: int = 1
    max: int = 100
    stateful: bool = False
    actuation: Actuation = Actuation.LIVE
    tie: str | None = None
    cpu_cores: float = 1.0
    memory_mb: float = 0.0

    def __post_init__(self) -> None:
        if not self.name or not isinstance(self.name, str):
            raise InvalidValueError("operator name", f"must be a word, not {self.name!r}")
        check_whole(f"operator {self.name}: min", self.min, 1)
        check_whole(f"operator {self.name}: max", self.max, 1)
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
        for name in names:
            if names.count(name) > 1:
                raise InvalidValueError("operators", f"must have different names, but {name!r} stands twice")
        for edge in self.edges:
            for end in edge:
                if end not in names:
                    raise InvalidValueError(f"edges: {edge[0]} -> {edge[1]}:", unknown(end, names))
            if self.edges.count(edge) > 1:
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
        return {name: tuple(p for p, c in self.edges if c == name) for name in self.names}

    @cached_property
    def children(self) -> dict[str, tuple[str, ...]]:
        return {name: tuple(c for p, c in self.edges if p == name) for name in self.names}

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
        try:
            sorter.prepare()
        except CycleError as error:
            raise InvalidValueError("edges", f"must not form a cycle: {' -> '.join(error.args[1])}") from None
        ordered: list[str] = []
        while sorter.is_active():
            ready = sorted(sorter.get_ready(), key=self.names.index)
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

    def ceiling(self, name: str) -> int:
        """The highest useful parallelism of an operator: its max, and for a root the source's partitions."""
        most = self[name].max
        if self.source_partitions is not None and name in self.roots:
            return max(self[name].min, min(most, self.source_partitions))
        return most

    def clamp(self, name: str, parallelism: int) -> int:
        """The nearest parallelism that the operator may have and can use."""
        return min(max(parallelism, self[name].min), self.ceiling(name))


def _pair(edge: object) -> tuple[str, str]:
    if not isinstance(edge, tuple | list) or len(edge) != 2:
        raise InvalidValueError("edges", f"must be pairs of a parent and a child, not {edge!r}")
    return edge[0], edge[1]
