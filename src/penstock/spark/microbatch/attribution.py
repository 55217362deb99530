"""Says which stages of a Spark job belong to which operator of a segment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from penstock.spark.measure.stages import Stage


@dataclass(frozen=True, slots=True)
class OperatorWork:
    """What one operator did for one batch. A figure that its stages do not show is None.

    useful_seconds  seconds spent on records, over all its instances
    stage_seconds   the same divided by its instances: seconds of the batch that the operator took
    records_in      records that it took
    records_out     records that it emitted
    """

    useful_seconds: float | None = None
    stage_seconds: float | None = None
    records_in: int | None = None
    records_out: int | None = None


@dataclass(frozen=True, slots=True)
class Link:
    """The stages to expect of an operator in its segment.

    name       the operator
    exchanges  shuffles inside it: each adds a stage
    may_fuse   whether it has the key of the operator before it: Spark may then leave out the shuffle in front of it
    """

    name: str
    exchanges: int = 0
    may_fuse: bool = False


def attribute(
    links: Sequence[Link], jobs: Sequence[Sequence[Stage]], counted: int | None = None, trailing: int = 0
) -> Mapping[str, OperatorWork]:
    """The work of each operator.

    The first job runs the chain: a stage that reads the input, then those of one operator after the other. Where the
    output is kept for others, it is also `counted`, which takes `trailing` further stages, and further jobs hand it to
    the sinks: all that is the last operator's work.

    >>> read, parse, count = Stage(2, 0.1, 900, 900), Stage(3, 0.6, 900, 800), Stage(2, 0.8, 800, 0)
    >>> work = attribute([Link("parse"), Link("count")], [[read, parse, count]])
    >>> work["parse"].records_out, work["count"].stage_seconds
    (800, 0.4)
    """
    chain = list(jobs[0]) if jobs else []
    tail = [stage for job in jobs[1:] for stage in job]
    missing = 1 + sum(1 + link.exchanges for link in links) + trailing - len(chain)
    work: dict[str, OperatorWork] = {}
    at = 1
    for link in links:
        own = 1 + link.exchanges
        if missing > 0 and link.may_fuse:
            missing, own = missing - 1, own - 1
        work[link.name] = _sum(chain[at : at + own])
        at += own
    last = links[-1].name
    extra = _sum([*chain[at:], *tail])  # further stages come behind those that were expected
    known = work[last]
    work[last] = OperatorWork(
        useful_seconds=_plus(known.useful_seconds, extra.useful_seconds),
        stage_seconds=_plus(known.stage_seconds, extra.stage_seconds),
        records_in=known.records_in,
        records_out=counted if counted is not None else known.records_out or None,
    )
    return work


def _sum(stages: Sequence[Stage]) -> OperatorWork:
    """An operator takes what its first stage reads, and emits what its last one writes."""
    if not stages:
        return OperatorWork()
    return OperatorWork(
        useful_seconds=sum(stage.useful_seconds for stage in stages),
        stage_seconds=sum(stage.useful_seconds / max(1, stage.tasks) for stage in stages),
        records_in=stages[0].records_in,
        records_out=stages[-1].records_out,
    )


def _plus(a: float | None, b: float | None) -> float | None:
    return a if b is None else b if a is None else a + b
