"""Plans part by part: guards treat the number of executors like the parallelism of an operator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from penstock.model import Decision, Plan, ReasonCode

Part = str | None
"""An operator by its name, or None for the executors."""


def size(plan: Plan, part: Part) -> int | None:
    """The size of a part; None for executors left to the cluster and for operators that the job does not have.

    A job may restart with other operators than those in its stored history.
    """
    return plan.executors if part is None else plan.parallelism.get(part)


def parts(plan: Plan) -> tuple[Part, ...]:
    return tuple(plan.parallelism) if plan.executors is None else (*plan.parallelism, None)


def resized(plan: Plan, rule: Callable[[Part, int], int]) -> Plan:
    """The plan with every part at the size that `rule` makes of its present one.

    >>> str(resized(Plan({"split": 2, "count": 3}, executors=4), lambda part, k: k + 1))
    'split 3, count 4; 5 executors'
    """
    changed = plan.changed({name: rule(name, k) for name, k in plan.parallelism.items()})
    return changed if plan.executors is None else replace(changed, executors=rule(None, plan.executors))


def at_least(plan: Plan, floor: Plan) -> Plan:
    """The plan with no part smaller than in `floor`.

    >>> str(at_least(Plan({"split": 2, "count": 3}), Plan({"split": 4, "count": 1})))
    'split 4, count 3'
    """
    return resized(plan, lambda part, k: max(k, size(floor, part) or k))


def grown(before: Plan, after: Plan) -> tuple[Part, ...]:
    """The parts that are larger after than before."""
    return tuple(part for part in parts(after) if (size(before, part) or 0) < (size(after, part) or 0))


def differences(asked: Plan, granted: Plan) -> str:
    """How the granted plan differs from the one asked for, in words.

    >>> differences(Plan({"split": 50, "count": 3}), Plan({"split": 40, "count": 3}))
    'split 40 instead of 50'
    """
    return ", ".join(
        f"{'executors' if part is None else part} {size(granted, part)} instead of {size(asked, part)}"
        for part in parts(asked)
        if size(granted, part) != size(asked, part)
    )


def rolled_back(decision: Decision) -> bool:
    """Whether the plan is one that served well before: limits on the way to something new do not apply to it."""
    return any(verdict.reason.code is ReasonCode.ROLL_BACK for verdict in decision.verdicts)
