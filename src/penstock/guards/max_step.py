"""Each part of the plan changes by a limited factor at a time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from penstock.guards import Guard
from penstock.guards._plans import differences, resized, rolled_back, size
from penstock.model import Decision, InvalidValueError, Observation, ReasonCode
from penstock.model.errors import check_number
from penstock.model.options import option

ROUNDING = 1e-9
"""100 * 0.07 is a little more than 7 in binary, and must not be rounded up to 8."""


@dataclass(frozen=True)
class MaxStep(Guard):
    """Limits how far an operator, or the number of executors, moves in one decision.

    Growth is given more room than shrinking: falling behind is costly immediately, being over-provisioned costs little.
    One instance more or less is always allowed, or small operators could never move.
    """

    name: ClassVar[str] = "max_step"

    up_factor: float = option(4.0, "at most this many times the present parallelism", "ratio")
    down_factor: float = option(0.5, "no lower than this share of the present parallelism", "ratio")

    def __post_init__(self) -> None:
        check_number("up_factor", self.up_factor, 1.0)
        check_number("down_factor", self.down_factor)
        if self.down_factor > 1:
            raise InvalidValueError("down_factor", f"must be at most 1, not {self.down_factor!r}")

    def vet(self, decision: Decision, observation: Observation) -> Decision:
        if rolled_back(decision):
            return decision
        plan = resized(decision.plan, lambda part, k: self._reachable(size(observation.plan, part), k))
        if plan == decision.plan:
            return decision
        text = f"one step leads from {observation.plan} to {differences(decision.plan, plan)}"
        return decision.vetted(self.name, ReasonCode.MAX_STEP, text, plan)

    def _reachable(self, present: int | None, asked: int) -> int:
        if present is None:
            return asked
        most = max(present + 1, math.floor(present * self.up_factor + ROUNDING))
        least = min(present - 1, math.ceil(present * self.down_factor - ROUNDING))
        return min(max(asked, least), most)
