"""Growth that did not help is not repeated: the bottleneck is elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from penstock.guards import TimedGuard
from penstock.guards._evidence import (
    LATENCY_TARGETS,
    Windows,
    decided_on,
    input_rate,
    latency_ratio,
    missed,
    throughput,
)
from penstock.guards._plans import Part, grown, resized, rolled_back, size
from penstock.model import Cycle, Decision, InvalidValueError, Observation, ReasonCode, Slo
from penstock.model.errors import check_number
from penstock.model.options import option

MET = 0.99
"""From this share of the input rate on, throughput meets it: two counters are never read at the same moment."""


@dataclass(frozen=True)
class Ineffective(TimedGuard):
    """Blocks further growth of a part whose last growth did not help, until `seconds` after that growth.

    A slow database behind an operator, for example, limits the job at any parallelism. Let *before* be the windows
    that the last growth of a part, from k to k', was decided on, and *now* as many of the newest windows measured
    since the job's last change was in force. The growth was in vain if all of this holds:

    - some target of the slo was missed in every window, both before and now;
    - throughput now is at most (1 + g) times what it was, with g = gain * min(1, k'/k - 1);
    - no latency that missed its target both times fell below (1 - g) times what it was;
    - the input did not grow, or grew and is not met by the throughput. An input that grows and is met needs growth.

    It is judged again in each cycle, so growth is allowed again as soon as the job does better. A figure that was not
    measured, or a part that shrank since, blocks nothing.
    """

    name: ClassVar[str] = "ineffective"

    gain: float = option(0.1, "share of the expected improvement that growth must bring to be repeated", "ratio")
    seconds: float = option(1800.0, "how long growth that was in vain is not repeated; 0: not at all", "s")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("gain", self.gain)
        if self.gain > 1:
            raise InvalidValueError("gain", f"must be at most 1, not {self.gain!r}")

    def vet(self, decision: Decision, observation: Observation) -> Decision:
        if rolled_back(decision):
            return decision
        present = observation.plan
        recent = (cycle for cycle in reversed(observation.history) if observation.t - cycle.t < self.seconds)
        changes = [cycle for cycle in recent if cycle.changed]
        blocked = {part for part in grown(present, decision.plan) if self._grew_in_vain(part, changes, observation)}
        plan = resized(decision.plan, lambda part, k: (size(present, part) or k) if part in blocked else k)
        if plan == decision.plan:
            return decision
        names = ", ".join(sorted("executors" if part is None else part for part in blocked))
        text = f"the last growth of {names} did not help, so something else holds the job back"
        return decision.vetted(self.name, ReasonCode.INEFFECTIVE, text, plan)

    def _grew_in_vain(self, part: Part, changes: Sequence[Cycle], observation: Observation) -> bool:
        """Whether the last growth of a part, looked for in the changes from the newest back, was in vain."""
        growth = next((cycle for cycle in changes if part in grown(cycle.before, cycle.decision.plan)), None)
        if growth is None:
            return False
        small, large = size(growth.before, part) or 0, size(growth.decision.plan, part) or 0
        if (size(observation.plan, part) or 0) < large:
            return False
        before = decided_on(growth)
        now = observation.since(changes[0].in_force_at)[-len(before) :]
        g = self.gain * (min(1.0, large / small - 1.0) if small else 1.0)
        return not _helped(before, now, g, observation.slo)


def _helped(before: Windows, now: Windows, g: float, slo: Slo) -> bool:
    """Whether the job does better, or nothing shows that it does not."""
    short = missed(before, slo) & missed(now, slo)
    flow_before, flow_now = throughput(before), throughput(now)
    input_before, input_now = input_rate(before), input_rate(now)
    if not short or flow_before is None or flow_now is None or input_before is None or input_now is None:
        return True
    if flow_now > flow_before * (1.0 + g) or (input_now > input_before and flow_now >= MET * input_now):
        return True
    ratios = (latency_ratio(before, now, target, slo) for target in short.intersection(LATENCY_TARGETS))
    return any(ratio is not None and ratio < 1.0 - g for ratio in ratios)
