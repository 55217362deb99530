"""Builders for what guards look at: windows of measurement, remembered cycles, observations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from penstock.model import (
    Cycle,
    Decision,
    Latency,
    Mode,
    Observation,
    Operator,
    Plan,
    Reason,
    ReasonCode,
    Sample,
    Slo,
    Topology,
    Verdict,
)

NOW = 10_000.0


@pytest.fixture(scope="session")
def window() -> Callable[..., Sample]:
    """A minute of a job that keeps up with 100 records/s, unless given otherwise."""

    def build(
        t: float, processing_ms: float | None = None, event_ms: float | None = None, seconds: float = 60, **figures: Any
    ) -> Sample:
        figures = {"input_rate": 100.0, "throughput": figures.get("input_rate", 100.0), "backlog": 0.0, **figures}
        return Sample(
            t=t,
            seconds=seconds,
            operators={},
            processing_latency_ms=None if processing_ms is None else Latency(processing_ms),
            event_latency_ms=None if event_ms is None else Latency(event_ms),
            **figures,
        )

    return build


@pytest.fixture(scope="session")
def decide() -> Callable[..., Decision]:
    """A policy's decision for a plan, given as a Plan or as parallelism by name."""

    def build(plan: Plan | Mapping[str, int], policy: str = "ds2", **details: Any) -> Decision:
        reason = Reason(details.pop("code", ReasonCode.REBALANCE), "as the story goes")
        return Decision(plan=as_plan(plan), reason=reason, policy=policy, **details)

    return build


@pytest.fixture(scope="session")
def cycle(decide: Callable[..., Decision]) -> Callable[..., Cycle]:
    """A remembered cycle that went from one plan to another; `by` names the reason a guard gave for it."""

    def build(
        t: float,
        before: Plan | Mapping[str, int],
        after: Plan | Mapping[str, int] | None = None,
        *,
        samples: tuple[Sample, ...] = (),
        applied: bool = True,
        by: ReasonCode | None = None,
        **details: Any,
    ) -> Cycle:
        decision = decide(before if after is None else after, **details)
        if by is not None:
            decision = replace(decision, verdicts=(Verdict(by.value, Reason(by, "as the story goes")),))
        mode = Mode.ACTIVE if applied else Mode.MONITOR
        return Cycle(t=t, mode=mode, before=as_plan(before), decision=decision, samples=samples, applied=applied)

    return build


@pytest.fixture(scope="session")
def observe(window: Callable[..., Sample]) -> Callable[..., Observation]:
    """An observation at t = 10 000 s; without a topology its operators stand side by side, from 1 to 100."""

    def build(plan: Plan | Mapping[str, int], topology: Topology | None = None, **world: Any) -> Observation:
        plan = as_plan(plan)
        t = world.pop("t", NOW)
        return Observation(
            t=t,
            plan=plan,
            topology=topology or Topology(tuple(map(Operator, plan.parallelism))),
            slo=world.pop("slo", Slo(processing_latency="100 ms")),
            samples=world.pop("samples", (window(t - 60),)),
            **world,
        )

    return build


def as_plan(plan: Plan | Mapping[str, int]) -> Plan:
    return plan if isinstance(plan, Plan) else Plan(plan)
