"""Counts the shuffles inside the operators of a real-time segment: each of their partitions holds a slot of its own.

Spark says what it would run when a stream is explained. In the plan that is explained every operator has a parallelism
that no shuffle of its own has, so the shuffle in front of each is known by that number, and whatever else shuffles
between two of these belongs to the operator in between.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import count, islice

from pyspark.sql import DataFrame

from penstock.model import Plan
from penstock.spark.executors.slots import NotEnoughSlotsError
from penstock.spark.settings import KEEP_EVERY_STAGE, PARTITIONS, temporary_settings

FIRST_MARK = 100_003
_EXCHANGE = re.compile(r"^\W*Exchange (?:SinglePartition|\w+\((?:.*?\b)?(\d+)\)), [A-Z]")


def marked(operators: tuple[str, ...]) -> Plan:
    """A plan that is never run: the parallelism of each operator tells it from the others."""
    return Plan(dict(zip(operators, islice(count(FIRST_MARK), len(operators)), strict=True)))


def explained(frame: DataFrame, partitions: int | None) -> str:
    """What Spark would run for a stream, whose checkpoint has these partitions; None: those of the session."""
    settings = {} if partitions is None else {PARTITIONS: str(partitions)}
    with temporary_settings(frame.sparkSession, {**KEEP_EVERY_STAGE, **settings}):
        mode = frame.sparkSession._jvm.org.apache.spark.sql.execution.ExplainMode.fromString("simple")  # type: ignore[union-attr]
        return str(frame._jdf.queryExecution().explainString(mode))


def inner_shuffles(plan: str, marks: Mapping[str, int]) -> dict[str, int]:
    """The partitions of all shuffles inside each operator that has some.

    A shuffle that Spark leaves out when its partitions are as many as the instances in front of it is counted too.

    >>> inner_shuffles('''
    ... +- StateStoreSave
    ...    +- Exchange hashpartitioning(w#1, 200), REQUIRED_BY_STATEFUL_OPERATOR, [plan_id=3]
    ...       +- Exchange hashpartitioning(w#1, 11), REPARTITION_BY_NUM, [plan_id=2]
    ...          +- Exchange RoundRobinPartitioning(10), REPARTITION_BY_NUM, [plan_id=1]
    ... ''', {"split": 10, "count": 11})
    {'count': 200}
    """
    names = {mark: name for name, mark in marks.items()}
    found: dict[str, int] = {}
    inside = 0
    for line in plan.splitlines():  # from the last operator to the source
        if (exchange := _EXCHANGE.match(line)) is None:
            continue
        partitions = int(exchange.group(1) or 1)
        if partitions not in names:
            inside += partitions
        elif inside:
            found[names[partitions]], inside = inside, 0
    return found


def refuse_too_many(shuffles: Mapping[str, int], needed: int, most: int) -> None:
    """Refuse a job that needs more slots than it can ever have because of the shuffles inside its operators."""
    if needed <= most or not shuffles:
        return
    widest = max(shuffles, key=shuffles.__getitem__)
    raise NotEnoughSlotsError(needed, most, (
        f"operator {widest} shuffles inside, into {shuffles[widest]} partitions with a slot each; "
        f"{PARTITIONS} says how many"
    ))  # fmt: skip
