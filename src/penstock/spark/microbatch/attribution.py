"""Says which stages of a Spark job belong to which operator of a segment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from penstock.spark.measure.stages import Stage


@dataclass(frozen=True, slots=True)
class Work:
    """What one operator did for one batch; a figure that the stages do not show is None.

    useful_seconds  over all its instances
    shared_seconds  what that comes to when its instances share it: how long the operator held up the batch
    """

    useful_seconds: float | None = None
    shared_seconds: float | None = None
    records_in: int | None = None
    records_out: int | None = None


@dataclass(frozen=True, slots=True)
class Link:
    """An operator in its segment, as far as its stages go.

    exchanges   shuffles inside it: each adds a stage
    may_fuse    whether it is keyed as what comes before it is: then Spark may leave out the shuffle in front of it
    """

    name: str
    exchanges: int = 0
    may_fuse: bool = False


def attribute(
    links: Sequence[Link], jobs: Sequence[Sequence[Stage]], counted: int | None = None, trailing: int = 0
) -> Mapping[str, Work]:
    """The work of each operator.

    The first job runs the chain: a stage that reads the input, then those of each operator in turn. Where the output
    is kept for others, it is also `counted`, which takes so many `trailing` stages, and further jobs hand it to the
    sinks: all that is the last one's work.

    >>> read, parse, count = Stage(2, 0.1, 900, 900), Stage(3, 0.6, 900, 800), Stage(2, 0.8, 800, 0)
    >>> work = attribute([Link("parse"), Link("count")], [[read, parse, count]])
    >>> work["parse"].records_out, work["count"].shared_seconds
    (800, 0.4)
    """
    chain = list(jobs[0]) if jobs else []
    tail = [stage for job in jobs[1:] for stage in job]
    missing = 1 + sum(1 + link.exchanges for link in links) + trailing - len(chain)
    work: dict[str, Work] = {}
    at = 1
    for link in links:
        own = 1 + link.exchanges
        if missing > 0 and link.may_fuse:
            missing, own = missing - 1, own - 1
        work[link.name] = _sum(chain[at : at + own])
        at += own
    last = links[-1].name
    extra = _sum([*chain[at:], *tail])  # stages nobody expected came later than those that were
    known = work[last]
    work[last] = Work(
        useful_seconds=_plus(known.useful_seconds, extra.useful_seconds),
        shared_seconds=_plus(known.shared_seconds, extra.shared_seconds),
        records_in=known.records_in,
        records_out=counted if counted is not None else known.records_out or None,
    )
    return work


def _sum(stages: Sequence[Stage]) -> Work:
    """Of the stages of one operator: it takes what the first one reads, and gives what the last one writes."""
    if not stages:
        return Work()
    return Work(
        useful_seconds=sum(stage.useful_seconds for stage in stages),
        shared_seconds=sum(stage.useful_seconds / max(1, stage.tasks) for stage in stages),
        records_in=stages[0].records_in,
        records_out=stages[-1].records_out,
    )


def _plus(a: float | None, b: float | None) -> float | None:
    return a if b is None else b if a is None else a + b
