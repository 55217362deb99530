"""A run with all that is reported about it: the input of tables, picture and folder."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.model import Plan, Slo
from penstock.report.recorder import Recorder
from penstock.report.words import milliseconds, span
from penstock.runs.result import Result


@dataclass(frozen=True)
class Rival:
    """The same job and load under a plan that never changed."""

    plan: Plan
    result: Result


@dataclass(frozen=True)
class Story:
    """One run: its result, what was recorded, and optionally the result of a fixed plan.

    live  on real Spark, not in the simulator
    """

    result: Result
    recorder: Recorder
    rival: Rival | None = None
    stopped_early: bool = False
    live: bool = False

    @property
    def slo(self) -> Slo:
        return self.recorder.slo

    @property
    def basis(self) -> str:
        """What the cost of the run rests on."""
        if self.result.unit == "slot":
            return "nominal: slots of the plan, times seconds"
        return "by Spark's executor events" if self.live else "by simulated executors"

    @property
    def title(self) -> str:
        result = self.result
        return f"{result.policy} on {result.workload}, trace {result.trace}"


def targets(slo: Slo) -> str:
    """The targets in words.

    >>> targets(Slo(event_latency="500 ms", statistic="p95", drain="6 min"))
    'keep up, event latency (p95) below 500 ms, a backlog gone within 6 min'
    """
    words = ["keep up"]
    for name, target in (("processing", slo.processing_latency_ms), ("event", slo.event_latency_ms)):
        if target is not None:
            words.append(f"{name} latency ({slo.statistic}) below {milliseconds(target)}")
    if slo.drain_seconds is not None:
        words.append(f"a backlog gone within {span(slo.drain_seconds)}")
    return ", ".join(words)
