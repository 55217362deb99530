"""Every decision of a run as one JSON line, written as it goes, so that memory stays constant."""

from __future__ import annotations

import json
from typing import Any, TextIO

from penstock.model import Cycle
from penstock.stores.codec import plain
from penstock.stores.snapshot import decision_json


class Journal:
    """Writes each cycle that it is called with to a file."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def __call__(self, cycle: Cycle) -> None:
        self._file.write(json.dumps(cycle_json(cycle), allow_nan=False, separators=(",", ":")) + "\n")


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
