"""A cycle as one line of JSON that other programs read: the journal of a run, and the log of decisions."""

from __future__ import annotations

from typing import Any

from penstock.model import Cycle
from penstock.stores.codec import plain
from penstock.stores.snapshot import decision_json


def cycle_json(cycle: Cycle) -> dict[str, Any]:
    """The time of a cycle, the plan in force, the decision and whether it was applied.

    >>> from penstock.model import Decision, Mode, Plan
    >>> move = Decision.move(Plan({"split": 1}), Plan({"split": 2}), "split is busy")
    >>> line = cycle_json(Cycle(t=60.0, mode=Mode.ACTIVE, before=Plan({"split": 1}), decision=move, applied=True))
    >>> line["t"], line["before"], line["parallelism"], line["changed"]
    (60.0, {'split': 1}, {'split': 2}, True)
    """
    moment = {"t": cycle.t, "changed": cycle.changed, "before": plain(cycle.before.parallelism)}
    problem = {} if cycle.problem is None else {"problem": cycle.problem}
    return moment | decision_json(cycle.decision) | problem
