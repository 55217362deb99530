"""Says what each operator of a real-time segment did in a batch: from the stages of its query, and from the inside.

A segment is a line of stages: one that reads the topics, unless the first chain does that itself, then one for each
chain, the shuffles between them included. An operator that shuffles inside has more than one stage. Nobody knows then
which stage belongs to which chain, and what was measured inside is all that is known.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

from penstock.spark.chains import Chain, Exchange
from penstock.spark.measure.operator_meter import Inside
from penstock.spark.measure.shared_stage import split
from penstock.spark.measure.stages import Stage
from penstock.spark.realtime.segment_batch import OperatorBatch


def attribute(
    chains: Sequence[Chain],
    stages: Sequence[Stage],
    records: int,
    inside: Mapping[str, Inside],
    counted: Container[str],
) -> dict[str, OperatorBatch]:
    """What each operator did of a batch with so many records.

    The records that left were `counted` inside these operators. As many leave the others as come to them.

    >>> from penstock.spark.chains import Partitioning
    >>> both = Chain(("parse", "lookup"), 1, Exchange.NONE, (), Partitioning(1))
    >>> measured = {"parse": Inside(10, 5, 0.05), "lookup": Inside(8, 5, 0.15)}
    >>> found = attribute([both], [Stage(1, 5.0, 10, 8, cpu_seconds=0.8)], 10, measured, measured)
    >>> [(each.records_out, round(each.cpu_seconds, 2)) for each in found.values()]
    [(10, 0.2), (8, 0.6)]
    """
    reading = 1 if chains[0].exchange is Exchange.SHUFFLE else 0
    cpu = [stage.cpu_seconds for stage in stages[reading:]]
    known = len(stages) == reading + len(chains)
    operators: dict[str, OperatorBatch] = {}
    for place, chain in enumerate(chains):
        came: dict[str, int] = {}
        left: dict[str, int] = {}
        for name in chain.operators:
            came[name] = records
            records = left[name] = inside[name].records_out if name in counted else records
        each = {name: inside[name].seconds_per_record if name in inside else None for name in chain.operators}
        # An operator is measured inside because it may wait, which CPU time does not show: alone that says nothing.
        missed = any(inside[name].missed for name in chain.operators if name in inside)
        shares = dict.fromkeys(chain.operators) if missed or not known else _shares(cpu[place], each, came)
        operators |= {name: OperatorBatch(left[name], each[name], shares[name]) for name in chain.operators}
    return operators


def _shares(cpu_seconds: float, each: Mapping[str, float | None], came: Mapping[str, int]) -> dict[str, float | None]:
    """The CPU seconds of a stage over its operators, in the proportion of the seconds inside them.

    Time inside has what an operator waited, and the stage what Spark did to move records: where the seconds inside are
    more, they are the operator's own.
    """
    if len(each) == 1:
        return dict.fromkeys(each, cpu_seconds)
    spent = {name: None if seconds is None else seconds * came[name] for name, seconds in each.items()}
    inside = sum(seconds for seconds in spent.values() if seconds is not None)
    return dict(split(max(cpu_seconds, inside), spent, came))
