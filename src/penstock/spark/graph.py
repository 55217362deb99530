"""The description of a pipeline: a graph of functions from DataFrame to DataFrame, with a source and sinks.

Nothing here runs, and Spark is not needed to write one down: `penstock.spark.pipeline` starts it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from penstock.model import InvalidValueError
from penstock.model.keywords import knows_its_keywords
from penstock.model.topology import Actuation, Operator, Topology

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from penstock.spark.io.endpoints import Sink, Source

MOST_INSTANCES = 16
"""The most instances of an operator whose author does not say."""

DESCRIBED = "docs/how-to/run-a-pipeline-on-spark.md"
"""Where a user reads how a pipeline is written."""


@dataclass(frozen=True, slots=True)
class Step:
    """An operator of a pipeline.

    name      what plans, samples and decisions call it
    function  from the DataFrame of its input to that of its output
    after     the operators whose output it reads, joined by a union; none: the source
    key       columns whose equal values must meet in one instance; none: records are spread evenly
    min, max  the fewest and the most instances that it may have
    chain     whether it may share its instances with its neighbours
    tie       operators with the same tie always have the same parallelism: neighbours among them stay together
    """

    name: str
    function: Callable[[DataFrame], DataFrame]
    after: tuple[str, ...] = ()
    key: tuple[str, ...] = ()
    min: int = 1
    max: int = MOST_INSTANCES
    chain: bool = True
    tie: str | None = None


@dataclass(frozen=True, slots=True)
class Outlet:
    """Where the output of an operator goes."""

    sink: Sink
    after: str


@dataclass
class Graph:
    """The operators of a job, where their records come from and where they go.

    >>> job = Graph("clicks", source=None)
    >>> parsed = job.operator("parse", lambda clicks: clicks)
    >>> counted = job.operator("count", lambda clicks: clicks, after=parsed, key="campaign", max=8)
    >>> job.sink(None, after=counted)
    >>> job.topology().edges
    (('parse', 'count'),)
    """

    name: str
    source: Source
    steps: dict[str, Step] = field(default_factory=dict)
    outlets: list[Outlet] = field(default_factory=list)

    @knows_its_keywords(DESCRIBED)
    def operator(
        self,
        name: str,
        function: Callable[[DataFrame], DataFrame],
        *,
        after: Step | str | Sequence[Step | str] = (),
        key: str | Sequence[str] = (),
        min: int = 1,
        max: int = MOST_INSTANCES,
        chain: bool = True,
        tie: str | None = None,
    ) -> Step:
        """Add an operator. `after` may name one that is added later. See `Step` for the rest."""
        if not callable(function):
            raise InvalidValueError(f"operator {name}: function", f"must take and return a DataFrame, not {function!r}")
        if name in self.steps:
            raise InvalidValueError("operators", f"must have different names, but {name!r} stands twice")
        step = Step(name, function, tuple(map(_name, _several(after))), tuple(_several(key)), min, max, chain, tie)
        self.steps[name] = step
        return step

    @knows_its_keywords(DESCRIBED)
    def sink(self, sink: Sink, *, after: Step | str) -> None:
        """Send the output of an operator to `sink`; an operator may have several."""
        self.outlets.append(Outlet(sink, _name(after)))

    def sinks_of(self, name: str) -> tuple[Sink, ...]:
        return tuple(outlet.sink for outlet in self.outlets if outlet.after == name)

    def topology(
        self,
        actuation: Actuation = Actuation.LIVE,
        chained: Collection[str] = (),
        readers: Mapping[str, int] | None = None,
    ) -> Topology:
        """The graph as policies see it; raises InvalidValueError for a graph that cannot run.

        chained  operators that share the instances of the one in front of them, where both have as many
        readers  tasks that read for an operator which, with as many instances, reads itself
        """
        if isinstance(self.source, list | tuple):
            raise InvalidValueError(
                "source",
                "must be one: several topics are read by one kafka([...]), a table that does not stream can be joined "
                "inside an operator, and streams are joined by a native query (penstock.spark.NativeQuery)",
            )
        topology = Topology(
            tuple(
                Operator(
                    step.name,
                    min=step.min,
                    max=step.max,
                    stateful=bool(step.key),
                    actuation=actuation,
                    tie=step.tie,
                    chained=step.name in chained,
                    readers=(readers or {}).get(step.name, 0),
                )
                for step in self.steps.values()
            ),
            tuple((parent, step.name) for step in self.steps.values() for parent in step.after),
        )
        for outlet in self.outlets:
            if outlet.after not in self.steps:
                raise InvalidValueError("sink: after", f"must name an operator, but there is no {outlet.after!r}")
        for name in topology.leaves:
            if not self.sinks_of(name):
                raise InvalidValueError(
                    f"operator {name}", "feeds nothing: give it a sink, or put an operator behind it"
                )
        return topology


def _name(of: Step | str) -> str:
    return of.name if isinstance(of, Step) else of


def _several(value: Any) -> tuple[Any, ...]:
    """One or many, as many."""
    return (value,) if isinstance(value, (str, Step)) else tuple(value)
