"""The figures of one cycle that charts are made of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import sqlalchemy as sql

from penstock.model import Cycle, JobDescription, Latency, Plan, Sample, Slo
from penstock.stores.codec import to_json

POINT_COLUMNS: dict[str, Any] = {
    "t": sql.Double,
    "changed": sql.Boolean,
    "reason": sql.String(40),
    "measured_seconds": sql.Double,
    "missed_seconds": sql.Double,
    "input_rate": sql.Double,
    "throughput": sql.Double,
    "backlog": sql.Double,
    "processing_latency_ms": sql.Double,
    "event_latency_ms": sql.Double,
    "executors": sql.Integer,
    "leaving": sql.Integer,
    "held_seconds": sql.Double,
    "slot_seconds": sql.Double,
    "in_force": sql.Text,
    "decided": sql.Text,
}
"""The columns of a point: rates are averages over the cycle's windows, latency and backlog the worst in it, so that
nothing that was missed is hidden. `held_seconds` passed since the cycle before, `slot_seconds` are the slots that the
plan held meanwhile. `in_force` and `decided` are the plans after the cycle as JSON, if one of them is another."""


class PointMaker:
    """Makes the points of one job's cycles, one after the other."""

    def __init__(self) -> None:
        self.description: JobDescription | None = None
        self._last_t: float | None = None
        self._plans: tuple[Plan, Plan] | None = None

    def __call__(self, cycle: Cycle) -> dict[str, Any]:
        """The point of a cycle, with latencies by the statistic of the targets.

        >>> from penstock.model import Decision, Mode, ReasonCode
        >>> plan = Plan({"split": 2})
        >>> hold = Decision.hold(plan, ReasonCode.STEADY, "")
        >>> cycles = [Cycle(t=t, mode=Mode.ACTIVE, before=plan, decision=hold) for t in (5, 9)]
        >>> first, second = map(PointMaker(), cycles)
        >>> first["t"], first["in_force"], first["slot_seconds"], first["input_rate"]
        (5, '{"parallelism":{"split":2}}', None, None)
        >>> second["t"], second["in_force"], second["slot_seconds"], second["reason"]
        (9, None, 8, 'steady')
        """
        samples, slo = cycle.samples, Slo() if self.description is None else self.description.slo
        known = self.description
        slots = cycle.before.total if known is None else known.execution.slots(cycle.before, known.topology)
        held = None if self._last_t is None or cycle.t < self._last_t else cycle.t - self._last_t
        plans = (_plain(cycle.decision.plan if cycle.applied else cycle.before), _plain(cycle.decision.plan))
        moved = plans != self._plans
        self._last_t, self._plans = cycle.t, plans
        return {
            "t": cycle.t,
            "changed": cycle.changed,
            "reason": cycle.decision.reason.code.value,
            "measured_seconds": sum(sample.seconds for sample in samples),
            "missed_seconds": sum(sample.seconds for sample in samples if slo.violations(sample)),
            "input_rate": _average(samples, [sample.job_input_rate for sample in samples]),
            "throughput": _average(samples, [sample.throughput for sample in samples]),
            "backlog": _worst(sample.backlog for sample in samples),
            "processing_latency_ms": _worst(_at(sample.processing_latency_ms, slo) for sample in samples),
            "event_latency_ms": _worst(_at(sample.event_latency_ms, slo) for sample in samples),
            "executors": samples[-1].executors if samples else None,
            "leaving": cycle.leaving,
            "held_seconds": held,
            "slot_seconds": None if held is None else held * slots,
            "in_force": to_json(plans[0]) if moved else None,
            "decided": to_json(plans[1]) if moved else None,
        }


def _plain(plan: Plan) -> Plan:
    """Charts do not show where instances are placed."""
    return plan if plan.placement is None else replace(plan, placement=None)


def _at(latency: Latency | None, slo: Slo) -> float | None:
    return None if latency is None else latency.at(slo.statistic)


def _average(samples: Iterable[Sample], figures: Iterable[float | None]) -> float | None:
    known = [(sample.seconds, figure) for sample, figure in zip(samples, figures, strict=True) if figure is not None]
    seconds = sum(each for each, _ in known)
    return sum(each * figure for each, figure in known) / seconds if seconds else None


def _worst(figures: Iterable[float | None]) -> float | None:
    return max((figure for figure in figures if figure is not None), default=None)
