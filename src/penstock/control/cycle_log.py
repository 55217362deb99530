"""What a person must know of the cycles of a job, in the log: each change, and when the loop cannot see."""

from __future__ import annotations

import logging

from penstock.model import Cycle, Mode, Origin, Plan, ReasonCode

log = logging.getLogger("penstock")


class CycleLog:
    """Writes one line for each change (in monitor mode: for each change that it would make), and one when the loop
    becomes blind and one when it sees again."""

    def __init__(self, name: str = "") -> None:
        """`name` is what the lines begin with."""
        self._prefix = f"{name}: " if name else ""
        self._blind = False
        self._would: Plan | None = None

    def __call__(self, cycle: Cycle) -> None:
        decision, reason = cycle.decision, cycle.decision.reason
        blind = reason.code.failure or reason.code is ReasonCode.STALE_METRICS
        if blind and not self._blind:
            log.warning("%scannot see, and leaves the job as it is: %s", self._prefix, reason.text)
        elif self._blind and not blind:
            log.info("%ssees again", self._prefix)
        self._blind = blind
        if cycle.changed:
            log.info("%s%s -> %s, because %s", self._prefix, cycle.before, decision.plan, reason.text)
        if reason.code.origin is Origin.LOOP:  # nothing was decided
            return
        would = decision.plan if cycle.mode is Mode.MONITOR and decision.plan != cycle.before else None
        if would is not None and would != self._would:
            log.info("%swould change %s -> %s, because %s", self._prefix, cycle.before, would, reason.text)
        self._would = would
