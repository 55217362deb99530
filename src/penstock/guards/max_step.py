"""Each part of the plan changes by a limited factor at a time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from penstock.guards import Guard
from penstock.guards._limits import groups
from penstock.guards._plans import Part, differences, resized, rolled_back, size
from penstock.model import Decision, InvalidValueError, Observation, ReasonCode
from penstock.model.errors import check_number
from penstock.model.options import option

FIRST_DECISIONS = 10
"""Where nothing was changed for longer, the plan was about right: what asks for far more may be an outlier."""

ROUNDING = 1e-9
"""100 * 0.07 is a little more than 7 in binary, and must not be rounded up to 8."""


@dataclass(frozen=True)
class MaxStep(Guard):
    """Limits how far an operator, or the number of executors, moves in one decision.

    Growth is given more room than shrinking: falling behind is costly immediately, being over-provisioned costs little.
    One instance more or less is always allowed, or small operators could never move. A job that has just begun and
    misses its targets has most room: nobody has sized it yet, and where a change silences a job, three small steps in
    the place of a large one are three silences. Operators that are to share their instances move as one.
    """

    name: ClassVar[str] = "max_step"

    up_factor: float = option(4.0, "at most this many times the present parallelism", "ratio")
    first_factor: float = option(
        16.0, "the same for the first change of a job that misses its targets from the start", "ratio"
    )
    down_factor: float = option(0.5, "no lower than this share of the present parallelism", "ratio")

    def __post_init__(self) -> None:
        check_number("up_factor", self.up_factor, 1.0)
        check_number("first_factor", self.first_factor, 1.0)
        check_number("down_factor", self.down_factor)
        if self.down_factor > 1:
            raise InvalidValueError("down_factor", f"must be at most 1, not {self.down_factor!r}")

    def vet(self, decision: Decision, observation: Observation) -> Decision:
        if rolled_back(decision):
            return decision
        factor = max(self.up_factor, self.first_factor) if _was_never_sized(observation) else self.up_factor
        together: dict[Part, tuple[Part, ...]] = {
            name: group.names for group in groups(observation.topology, decision.plan) for name in group.names
        }

        def reachable(part: Part, asked: int) -> int:
            present = [size(observation.plan, each) for each in together.get(part, (part,))]
            return self._reachable([each for each in present if each is not None], asked, factor)

        plan = resized(decision.plan, reachable)
        if plan == decision.plan:
            return decision
        text = f"one step leads from {observation.plan} to {differences(decision.plan, plan)}"
        return decision.vetted(self.name, ReasonCode.MAX_STEP, text, plan)

    def _reachable(self, present: Sequence[int], asked: int, factor: float) -> int:
        """As near to what is asked as one step leads from any of these: operators that are to share their instances
        come to one number."""
        if not present:
            return asked
        most = max(max(k + 1, math.floor(k * factor + ROUNDING)) for k in present)
        least = min(min(k - 1, math.ceil(k * self.down_factor - ROUNDING)) for k in present)
        return min(max(asked, least), most)


def _was_never_sized(observation: Observation) -> bool:
    """Whether this is among the first decisions of a job that misses its targets, and whose plan was never changed."""
    young = len(observation.history) < FIRST_DECISIONS and observation.last_change is None
    return young and bool(observation.slo.violations(observation.latest))
