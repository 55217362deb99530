"""What the user feels: targets that are missed and queues that grow, and where to add instances then.

Whatever a model says, a job that misses its targets window after window is not steady: the operator in front of which
the most work waits grows by a quarter. If a growth that was made while targets were missed did not help, its operators
are left out for half an hour, and the next one is tried; if none is left, something else holds the job back.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from penstock.model import Cycle, Observation, Sample, Topology

GROWTH = 0.25
WINDOWS = 3
"""Windows in a row that show trouble before anything is done about it."""

SETTLED_SECONDS = 60.0
"""Seconds of windows after a growth, before it is judged."""

HELPED = 0.9
"""What is left of the work that waits, or of the latency, if a growth helped."""

REMEMBERED_SECONDS = 1800.0


@dataclass
class Pressure:
    """Remembers which growths were in vain: the operator, and when that was seen.

    compress  how many times as fast as in life time passes
    """

    in_vain: dict[str, float] = field(default_factory=dict)
    judged: float = -1.0
    compress: float = 1.0

    def learn(self, observation: Observation) -> None:
        """Judge the last growth, once enough was measured after it."""
        change, t = observation.last_change, observation.latest.end
        self.in_vain = {
            name: when for name, when in self.in_vain.items() if (t - when) * self.compress < REMEMBERED_SECONDS
        }
        if change is None or change.t <= self.judged:
            return
        after = observation.since(change.t - 1e-6)
        if sum(window.seconds for window in after) * self.compress < SETTLED_SECONDS:
            return
        self.judged = change.t
        grown = _grown(change)
        before = [window for window in change.samples if not window.warm_up]
        if not grown or not before or not observation.slo.violations(before[-1]):
            return
        if _helped(before[-1], after[-1], observation):
            for name in grown:
                self.in_vain.pop(name, None)
        else:
            self.in_vain.update(dict.fromkeys(grown, t))

    def felt(self, observation: Observation) -> str | None:
        """What is wrong, in words; None if the targets hold or the job is about to catch up."""
        change = observation.last_change
        since = observation.samples if change is None else observation.since(change.t - 1e-6)
        recent = since[-WINDOWS:]  # what was before a change says nothing about the plan after it
        if len(recent) < WINDOWS:
            return None
        waiting = [window.waiting for window in recent]
        rate = recent[-1].job_input_rate or 0.0
        if all(observation.slo.violations(window) for window in recent):
            if waiting[-1] < waiting[0]:
                return None  # it works off what waits
            missed = sorted(set(observation.slo.violations(recent[-1])))
            return f"{' and '.join(missed).replace('_', ' ')} missed for {WINDOWS} windows"
        rising = all(a < b for a, b in itertools.pairwise(waiting))
        if rising and waiting[-1] - waiting[0] > observation.slo.tolerated_lag_seconds * rate:
            return f"{waiting[-1]:,.0f} records wait, and more with every window"
        return None

    def relieve(self, observation: Observation) -> tuple[dict[str, int], str]:
        """The parallelism that answers it, and why; the present one where nothing is left to try."""
        present = {name: observation.plan[name] for name in observation.topology.names}
        for name in _by_waiting_work(observation.latest, observation.topology):
            most = observation.topology.ceiling(name)
            if name in self.in_vain or present[name] >= most:
                continue
            k = min(most, present[name] + math.ceil(GROWTH * present[name]))
            return {**present, name: k}, f"records wait in front of {name}"
        tried = ", ".join(self.in_vain) or "none"
        return present, (
            f"more instances cannot help: every operator is at its most or grew in vain ({tried}); "
            "the machine is full or something outside holds the job back"
        )

    def state(self) -> dict[str, Any]:
        return {"in_vain": dict(self.in_vain), "judged": self.judged}

    @classmethod
    def restored(cls, state: Mapping[str, Any], compress: float = 1.0) -> Pressure:
        return cls(dict(state["in_vain"]), state["judged"], compress)


def _grown(change: Cycle) -> list[str]:
    before = change.before.parallelism
    return [name for name, k in change.decision.plan.parallelism.items() if k > before.get(name, k)]


def _helped(before: Sample, after: Sample, observation: Observation) -> bool:
    if not observation.slo.violations(after):
        return True
    figures = [(before.waiting, after.waiting)]
    for was, is_now in (
        (before.event_latency_ms, after.event_latency_ms), (before.processing_latency_ms, after.processing_latency_ms),
    ):  # fmt: skip
        if was is not None and is_now is not None and was.mean and is_now.mean is not None:
            figures.append((was.mean, is_now.mean))
    return any(now < HELPED * then for then, now in figures if then > 0)


def _by_waiting_work(sample: Sample, topology: Topology) -> list[str]:
    """The operators, those first in front of which an instance has the most work; then by how busy they are."""

    def work(name: str) -> tuple[float, float]:
        operator = sample.operators.get(name)
        if operator is None or not operator.records_in or not operator.useful_seconds:
            return 0.0, 0.0
        queue = operator.queue or 0.0
        busy = operator.useful_seconds / sample.seconds / operator.parallelism
        return queue * operator.useful_seconds / operator.records_in / operator.parallelism, busy

    return sorted(topology.names, key=work, reverse=True)
