"""Cuts a pipeline into linear pieces: at every fan-out and at every fan-in.

Both engines work on segments. In micro-batches a segment is one Spark job over the stages of its operators, and its
output is kept for the batch, so nothing is computed twice. In real time a segment is one query, and its output is a
topic, so a segment can change without its neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass

from penstock.spark.graph import Graph
from penstock.spark.io.endpoints import Sink


@dataclass(frozen=True, slots=True)
class Segment:
    """Operators in a line, each of which feeds the next one only.

    operators  their names, in the order of the flow
    after      the operators whose output the first one reads; none: the source
    feeds      the operators that read its output
    sinks      where else its output goes
    """

    operators: tuple[str, ...]
    after: tuple[str, ...]
    feeds: tuple[str, ...]
    sinks: tuple[Sink, ...]

    @property
    def name(self) -> str:
        """The name of its last operator, whose output is that of the segment."""
        return self.operators[-1]


def segments(graph: Graph) -> tuple[Segment, ...]:
    """Every segment after all those whose output it reads."""
    topology = graph.topology()

    def goes_on(name: str) -> str | None:
        """The operator that continues the segment behind `name`, if it is the only reader and has no other input."""
        children = topology.children[name]
        if len(children) != 1 or graph.sinks_of(name) or len(topology.parents[children[0]]) != 1:
            return None
        return children[0]

    continued = {goes_on(name) for name in topology.names}
    pieces = []
    for head in topology.order:
        if head in continued:
            continue
        chain = [head]
        while (after := goes_on(chain[-1])) is not None:
            chain.append(after)
        last = chain[-1]
        pieces.append(
            Segment(tuple(chain), topology.parents[head], topology.children[last], graph.sinks_of(last))
        )  # fmt: skip
    return tuple(pieces)
