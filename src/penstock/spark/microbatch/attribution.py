"""Says what each operator of a segment did, from the stages of its Spark jobs and from what was measured inside.

Operators of a chain share a stage. Spark's account of the stage says how long all of them took, with all that a record
costs besides: reading and writing it. What was measured inside says in which proportion that is theirs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise

from penstock.spark.chains import Chain, Exchange
from penstock.spark.measure.operator_meter import Inside
from penstock.spark.measure.shared_stage import split
from penstock.spark.measure.stages import Stage


@dataclass(frozen=True, slots=True)
class OperatorWork:
    """What one operator did for one batch. A figure that was not measured is None.

    useful_seconds  seconds spent on records, over all its instances
    stage_seconds   the same divided by its instances: seconds of the batch that the operator took
    records_in      records that it took
    records_out     records that it emitted
    instance_rates  records that each of its instances that had any took per second of its own useful time
    """

    useful_seconds: float | None = None
    stage_seconds: float | None = None
    records_in: int | None = None
    records_out: int | None = None
    instance_rates: tuple[float, ...] | None = None

    def lasting(self, seconds: float, instances: int) -> OperatorWork:
        """The same work of an operator that measured itself so many useful seconds, over all its instances."""
        slower = (self.useful_seconds or 0.0) / seconds if seconds else 0.0
        rates = tuple(slower * rate for rate in self.instance_rates or ()) if slower else ()
        return replace(
            self, useful_seconds=seconds, stage_seconds=seconds / instances, instance_rates=rates or None
        )  # fmt: skip


class Timing(StrEnum):
    """What the seconds inside an operator are."""

    SOME = "some"  # of some records: all that came in took as long, each
    WAITS = "waits"  # all of them
    NONE = "none"  # not measured: it takes in all its records before it hands on the first


@dataclass(frozen=True, slots=True)
class Metering:
    """What was measured inside an operator, and what its seconds are."""

    inside: Inside
    timing: Timing

    @property
    def missed(self) -> bool:
        """Whether records left it, but none of those that were chosen to be timed."""
        return self.timing is not Timing.NONE and self.inside.missed

    def scaled(self, factor: float) -> Metering:
        """The same of a batch with so many times the records."""
        inside = self.inside
        seconds = inside.seconds * factor if self.timing is Timing.WAITS else inside.seconds
        return Metering(Inside(round(inside.records_out * factor), inside.timed, seconds), self.timing)

    def seconds(self, records_in: int) -> float | None:
        """Seconds of all records inside the operator; None: not known."""
        if not records_in:
            return 0.0
        if self.timing is Timing.WAITS:
            return self.inside.seconds if self.inside.timed else None
        per_record = self.inside.seconds_per_record
        return None if per_record is None else per_record * records_in


def attribute(
    chains: Sequence[Chain],
    jobs: Sequence[Sequence[Stage]],
    records: int,
    *,
    exchanges: Mapping[str, int] | None = None,
    metered: Mapping[str, Metering] | None = None,
    counted: int | None = None,
) -> Mapping[str, OperatorWork] | None:
    """The work of each operator of a segment that read so many records; None if they cannot be told apart.

    The first job runs the chains: a stage that reads the input, unless the first chain does that itself, then those of
    one chain after the other. A shuffle inside an operator, of which `exchanges` has the number, adds a stage. Where
    the output is kept for others it is also `counted`, and further jobs hand it to the sinks: all that is the last
    operator's work, and so is whatever else Spark did behind the stages that were expected.

    >>> from penstock.spark.chains import Partitioning
    >>> parse = Chain(("parse",), 3, Exchange.SHUFFLE, (), Partitioning(3))
    >>> count = Chain(("count",), 2, Exchange.SHUFFLE, ("user",), Partitioning(2, ("user",)))
    >>> stages = [Stage(2, 0.1, 900, 900), Stage(3, 0.6, 900, 800), Stage(2, 0.8, 800, 0)]
    >>> work = attribute([parse, count], [stages], records=900)
    >>> work["parse"].records_out, work["count"].stage_seconds
    (800, 0.4)
    """
    exchanges, metered = exchanges or {}, metered or {}
    if not jobs or any(each.missed for each in metered.values()):
        return None
    stages = list(jobs[0])[1 if chains[0].exchange is Exchange.SHUFFLE else 0 :]
    lengths = _lengths(chains, exchanges, len(stages))
    if sum(lengths) > len(stages):
        return None
    work: dict[str, OperatorWork] = {}
    for chain, length in zip(chains, lengths, strict=True):
        own, stages = stages[:length], stages[length:]
        work |= _chain(chain, own, records, metered)
    last = chains[-1].operators[-1]
    if counted is None:
        counted = work[last].records_out or (metered[last].inside.records_out if last in metered else None)
    more = [*stages, *(stage for job in jobs[1:] for stage in job)]
    work[last] = _with(work[last], more, counted)
    return work


def _lengths(chains: Sequence[Chain], exchanges: Mapping[str, int], there: int) -> list[int]:
    """How many stages each chain has.

    Spark leaves out a shuffle by a key if a shuffle inside the operator before it has distributed the records in just
    that way: the chain then has no stage of its own to begin with.
    """
    inside = [exchanges.get(chain.operators[-1], 0) for chain in chains]
    lengths = [1 + each for each in inside]
    for place, chain in enumerate(chains[1:], 1):
        if sum(lengths) > there and chain.key and inside[place - 1]:
            lengths[place] -= 1
    return lengths


def _chain(
    chain: Chain, stages: Sequence[Stage], records: int, metered: Mapping[str, Metering]
) -> dict[str, OperatorWork]:
    """The operators of a chain share its first stage; what follows, and what leaves, is the last one's."""
    if not stages:
        return dict.fromkeys(chain.operators, OperatorWork())
    shared = stages[0]
    came = {chain.operators[0]: shared.records_in if chain.exchange is Exchange.SHUFFLE else records}
    for before, name in pairwise(chain.operators):
        came[name] = metered[before].inside.records_out
    known = {name: metered[name].seconds(came[name]) if name in metered else None for name in chain.operators}
    seconds = split(shared.useful_seconds, known, came)
    left = [*list(came.values())[1:], stages[-1].records_out]
    work = {
        name: OperatorWork(
            seconds[name], seconds[name] / max(1, shared.tasks), came[name], out,
            _instance_rates(shared, came[chain.operators[0]], came[name], seconds[name]),
        )
        for name, out in zip(chain.operators, left, strict=True)
    }  # fmt: skip
    last = chain.operators[-1]
    work[last] = _with(work[last], stages[1:], work[last].records_out)
    return work


def _instance_rates(stage: Stage, read: int, came: int, seconds: float) -> tuple[float, ...] | None:
    """The rates of an operator's instances: those of the tasks of its stage, which `read` so many records.

    Of the operators of a chain every task has the same shares of records and of time. None where the tasks were not
    looked at, or where Spark counts something else than records in them, as it does for kept frames.
    """
    worked = [task for task in stage.by_task if task.records_in and task.useful_seconds]
    if not worked or not seconds or sum(task.records_in for task in stage.by_task) != read:
        return None
    share = came / read / (seconds / stage.useful_seconds)
    return tuple(share * task.records_in / task.useful_seconds for task in worked)


def _with(work: OperatorWork, stages: Sequence[Stage], records_out: int | None) -> OperatorWork:
    """The work with that of further stages, whose tasks are not the operator's instances."""
    return OperatorWork(
        useful_seconds=_plus(work.useful_seconds, [stage.useful_seconds for stage in stages]),
        stage_seconds=_plus(work.stage_seconds, [stage.useful_seconds / max(1, stage.tasks) for stage in stages]),
        records_in=work.records_in,
        records_out=records_out,
        instance_rates=None if stages else work.instance_rates,
    )


def _plus(seconds: float | None, more: Sequence[float]) -> float | None:
    return seconds if not more else (seconds or 0.0) + sum(more)
