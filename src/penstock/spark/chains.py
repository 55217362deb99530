"""Says which operators of a segment share a stage, and where their records are distributed anew.

Neighbours of the same parallelism, without a key between them, share their instances: a task takes a record through all
of them. A shuffle stands only where the parallelism changes, where a key asks for it, or where somebody does not want
an operator to share.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from penstock.model import Plan
from penstock.spark.dry_run import DryRun
from penstock.spark.graph import Graph
from penstock.spark.segments import Segment

UNEVEN = 1.25
"""Whole partitions are given to fewer instances only if the busiest gets at most this many times its even share: a plan
for three instances must not be as slow as one for two."""


class Exchange(StrEnum):
    """What stands in front of the first operator of a chain."""

    NONE = "none"  # its records lie in as many partitions as it has instances
    COALESCE = "coalesce"  # an instance reads several whole partitions, without a shuffle
    SHUFFLE = "shuffle"  # each record is sent to its instance


@dataclass(frozen=True, slots=True)
class Partitioning:
    """How records lie.

    partitions  how many partitions there are; None: not known
    key         columns whose equal values lie in one partition; none: a record may lie in any
    """

    partitions: int | None
    key: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chain:
    """Operators that share their instances.

    operators    their names, in the order of the flow
    parallelism  how many instances they share
    exchange     how their records come to them
    key          the key by which a shuffle distributes them; none: evenly
    behind       how the records lie that leave the last operator
    """

    operators: tuple[str, ...]
    parallelism: int
    exchange: Exchange
    key: tuple[str, ...]
    behind: Partitioning


def chains(
    segment: Segment,
    graph: Graph,
    dry_runs: Mapping[str, DryRun],
    plan: Plan,
    read: Partitioning,
    *,
    chaining: bool = True,
    live: bool = False,
) -> tuple[Chain, ...]:
    """The chains of a segment that reads records which lie as `read` says.

    How many tasks read is open at the beginning of a segment: neither a source nor a kept frame has instances of its
    own. Behind an operator it is not, as its instances are those that the plan gives it.

    chaining  whether operators share instances at all; if not, there is a shuffle in front of each
    live      whether tasks read as long as they run, as in real time: none can read one partition after the other, and
              an operator that keeps state shuffles for it
    """
    made: list[Chain] = []
    lies, before_may = read, True
    for name in segment.operators:
        step, dry_run, instances = graph.steps[name], dry_runs[name], plan[name]
        exchange = Exchange.SHUFFLE
        # What is read twice is computed twice, unless a shuffle or a kept frame holds it.
        if chaining and step.chain and before_may and not dry_run.rereads:
            choose = _live_exchange if live else _exchange if made else _first_exchange
            exchange = choose(lies, instances, step.key)
        before_may = step.chain
        if exchange is not Exchange.NONE:
            lies = Partitioning(instances, step.key if exchange is Exchange.SHUFFLE else ())
        keeps_partitions = dry_run.keeps_partitions and (dry_run.narrow or not live)
        lies = Partitioning(
            instances if keeps_partitions else None,
            lies.key if keeps_partitions and dry_run.keeps.issuperset(lies.key) else (),
        )
        if made and exchange is Exchange.NONE:
            made[-1] = replace(made[-1], operators=(*made[-1].operators, name), behind=lies)
        else:
            made.append(Chain((name,), instances, exchange, step.key, lies))
    return tuple(made)


def chained(segments: Sequence[Segment], graph: Graph, dry_runs: Mapping[str, DryRun]) -> frozenset[str]:
    """The operators that in real time share the instances of the one in front of them, where both have as many."""
    even = Plan(dict.fromkeys(graph.steps, 1))
    made = [chains(segment, graph, dry_runs, even, Partitioning(None), live=True) for segment in segments]
    return frozenset(name for of_segment in made for chain in of_segment for name in chain.operators[1:])


def reads_itself(segment: Segment, graph: Graph, dry_runs: Mapping[str, DryRun]) -> bool:
    """Whether in real time the first operator of a segment, with as many instances as there are partitions to read,
    runs in the tasks that read them."""
    even = Plan(dict.fromkeys(graph.steps, 1))
    return chains(segment, graph, dry_runs, even, Partitioning(1), live=True)[0].exchange is Exchange.NONE


def united(parts: list[Partitioning]) -> Partitioning:
    """How the union of several frames lies.

    >>> united([Partitioning(2, ("user",)), Partitioning(3)])
    Partitioning(partitions=5, key=())
    """
    if len(parts) == 1:
        return parts[0]
    counts = [part.partitions for part in parts]
    return Partitioning(None if None in counts else sum(count for count in counts if count is not None))


def _exchange(lies: Partitioning, instances: int, key: tuple[str, ...]) -> Exchange:
    """In one partition all values meet, whatever the key."""
    fits = lies.partitions == instances and (not key or key == lies.key or instances == 1)
    return Exchange.NONE if fits else Exchange.SHUFFLE


def _first_exchange(read: Partitioning, instances: int, key: tuple[str, ...]) -> Exchange:
    if instances == 1:
        return Exchange.COALESCE  # also from one partition: Spark then knows that it is one
    exchange = _exchange(read, instances, key)
    if exchange is Exchange.SHUFFLE and not key and read.partitions is not None and read.partitions > instances:
        most = math.ceil(read.partitions / instances)
        if most * instances <= UNEVEN * read.partitions:
            return Exchange.COALESCE
    return exchange


def _live_exchange(lies: Partitioning, instances: int, key: tuple[str, ...]) -> Exchange:
    """A key always has its shuffle: a topic may get more partitions while it is read, and values that met in one would
    part. So it depends on no operator but the one in front who shares with whom, and policies can know it too."""
    return Exchange.NONE if lies.partitions == instances and not key else Exchange.SHUFFLE
