"""Where state is read from disk, it gets more memory before the job gets more partitions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from penstock.guards import Guard
from penstock.guards._plans import rolled_back
from penstock.model import Actuation, Cycle, Decision, InvalidValueError, Observation, ReasonCode, Sample
from penstock.model.errors import check_number, check_whole
from penstock.model.options import option


@dataclass(frozen=True)
class MemoryFirst(Guard):
    """Doubles the memory of state in the place of a growth, while reads of the state miss that memory.

    An operator that waits for its state is busy, and a policy that counts busy time gives it more instances. Memory may
    be what it lacks. A growth of an operator whose state moves with a change becomes a doubling if all of this holds:

    - of the blocks of state that were read in the newest window, less than `hit_ratio` were in memory;
    - memory was doubled less than `levels` times;
    - the last change was not a doubling in vain: one after which the share in memory is not higher by `gain`.

    Where nobody measures what is in memory, as in state that is all in memory, everything passes. Memory is kept until
    the job goes back to an earlier plan.
    """

    name: ClassVar[str] = "memory_first"
    source: ClassVar[str] = (
        "the rule of Justin (D. Schmitz, G. Rosinosky, E. Rivière: Justin: Hybrid CPU/Memory Elastic Scaling for "
        "Distributed Stream Processing, DAIS 2025), without its second measure, the latency of reads"
    )

    levels: int = option(0, "how often the memory of state may be doubled; 0: never, and every growth passes", "times")
    hit_ratio: float = option(0.8, "share of the blocks of state that should be in memory", "ratio")
    gain: float = option(0.05, "rise of that share which shows that a doubling helped", "ratio")

    def __post_init__(self) -> None:
        check_whole("levels", self.levels)
        check_number("gain", self.gain)
        check_number("hit_ratio", self.hit_ratio)
        if self.hit_ratio > 1:
            raise InvalidValueError("hit_ratio", f"must be at most 1, not {self.hit_ratio!r}")

    def vet(self, decision: Decision, observation: Observation) -> Decision:
        present, level = observation.plan, observation.plan.memory_level or 0
        if level >= self.levels or rolled_back(decision):
            return decision
        moved = [each.name for each in observation.topology.operators if each.actuation is Actuation.STATE_REPARTITION]
        grown = [name for name in moved if decision.plan[name] > present[name]]
        in_memory = _hit_ratio(observation.samples, grown)
        if in_memory is None or in_memory >= self.hit_ratio or self._in_vain(observation.last_change, in_memory, grown):
            return decision
        plan = replace(present, memory_level=level + 1)
        text = (
            f"{in_memory:.0%} of the state that {', '.join(grown)} read was in memory, less than {self.hit_ratio:.0%}: "
            f"{2 ** (level + 1)} times the memory before more partitions"
        )
        return decision.vetted(self.name, ReasonCode.MEMORY_FIRST, text, plan)

    def _in_vain(self, change: Cycle | None, in_memory: float, names: Sequence[str]) -> bool:
        if change is None or (change.decision.plan.memory_level or 0) <= (change.before.memory_level or 0):
            return False
        before = _hit_ratio(change.samples, names)
        return before is not None and in_memory < before + self.gain


def _hit_ratio(windows: Sequence[Sample], names: Sequence[str]) -> float | None:
    """The smallest share in memory of these operators, by the newest window that says; None if none does."""
    for window in reversed(windows):
        operators = (window.operators[name] for name in names if name in window.operators)
        known = [each.state_cache_hit_ratio for each in operators if each.state_cache_hit_ratio is not None]
        if known:
            return min(known)
    return None
