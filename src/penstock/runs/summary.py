"""Sums up a live run from the cycles of its loop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from penstock.model import Cycle, Latency, Plan, Sample, Slo
from penstock.performance.latency_mixture import together
from penstock.runs.result import Result, percentiles


class RunSummary:
    """Sums up the cycles that it is called with. Warming up counts like the rest: users wait then too.

    What the plans held is counted for the whole span of the run, whatever was measured in it; the time outside the
    targets is a share of the time that was measured.
    """

    def __init__(self, slo: Slo, slots_of: Callable[[Plan], int], largest: Plan) -> None:
        """`slots_of` says how many slots a plan holds."""
        self._slo = slo
        self._slots_of = slots_of
        self._largest = largest
        self._t = self._held = self._instance_seconds = 0.0
        self._plan: Plan | None = None  # in force since the last cycle
        self._measured = self._missed = 0.0
        self._offered = self._done = self._off = 0.0
        self._rescales = 0
        self._processing: list[tuple[float, Latency]] = []
        self._event: list[tuple[float, Latency]] = []
        self._decision_ms: list[float] = []

    def __call__(self, cycle: Cycle) -> None:
        self._hold(cycle.before, cycle.t)
        self._plan = cycle.decision.plan if cycle.applied else cycle.before
        self._rescales += cycle.changed
        for sample in cycle.samples:
            self._add(sample)

    def decided(self, milliseconds: float) -> None:
        self._decision_ms.append(milliseconds)

    def _hold(self, plan: Plan, until: float) -> None:
        seconds = max(0.0, until - self._t)
        self._held += self._slots_of(plan) * seconds
        self._instance_seconds += plan.total * seconds
        self._t = max(self._t, until)

    def _add(self, sample: Sample) -> None:
        done = (sample.throughput or 0.0) * sample.seconds
        self._measured += sample.seconds
        self._missed += sample.seconds if self._slo.violations(sample) else 0.0
        if sample.job_input_rate is not None:
            offered = sample.job_input_rate * sample.seconds
            self._done += done
            self._offered += offered
            self._off += abs(offered - done)
        for kept, latency in (
            (self._processing, sample.processing_latency_ms), (self._event, sample.event_latency_ms),
        ):  # fmt: skip
            if latency is not None and done:
                kept.append((done, latency))

    def result(
        self, *, policy: str, workload: str, trace: str, seed: int, seconds: float, paid: float | None = None
    ) -> Result:
        """The result of a run of `seconds`; `paid` are its core-seconds by Spark's events, where executors changed."""
        if self._plan is not None:
            self._hold(self._plan, seconds)
        span = seconds or 1.0
        return Result(
            policy=policy,
            workload=workload,
            trace=trace,
            seed=seed,
            seconds=seconds,
            violation_ratio=self._missed / self._measured if self._measured else 0.0,
            core_seconds=self._held if paid is None else paid,
            mean_parallelism=self._instance_seconds / span,
            rescales=self._rescales,
            processed_ratio=self._done / self._offered if self._offered else 1.0,
            throughput_degradation=self._off / self._offered if self._offered else 0.0,
            saved_resources=1.0 - self._instance_seconds / span / self._largest.total,
            lost_records=None,
            processing_latency_ms=together(self._processing),
            event_latency_ms=together(self._event),
            decision_ms=percentiles(self._decision_ms),
            unit="slot" if paid is None else "core",
        )


def since(cycle: Cycle, began: float) -> Cycle:
    """The cycle with its times counted from `began`, as reports show them."""
    samples = tuple(replace(sample, t=max(0.0, sample.t - began)) for sample in cycle.samples)
    return replace(cycle, t=max(0.0, cycle.t - began), samples=samples)
