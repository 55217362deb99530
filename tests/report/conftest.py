"""A run to report on, made by hand: ten minutes of a job that grows once, misses its target, and shrinks."""

from __future__ import annotations

import pytest

from penstock.model import (
    Cycle,
    Decision,
    Latency,
    Mode,
    OperatorSample,
    Plan,
    ReasonCode,
    Sample,
    Slo,
)
from penstock.report.recorder import Recorder
from penstock.report.story import Story
from penstock.runs.result import Result


def _cycle(minute: int, before: Plan, after: Plan, latency_ms: float, backlog: float) -> Cycle:
    sample = Sample(
        t=60.0 * minute,
        seconds=60.0,
        operators={name: OperatorSample(k) for name, k in before.parallelism.items()},
        input_rate=1000.0 + 100 * minute,
        throughput=1000.0,
        backlog=backlog,
        processing_latency_ms=Latency(mean=latency_ms / 2),
        event_latency_ms=Latency(mean=latency_ms),
    )
    decision = Decision.move(before, after, "split | count are busy")
    if after != before:
        asked = Decision.move(before, after.changed(count=9), "split | count are busy")
        decision = asked.vetted("max_step", ReasonCode.MAX_STEP, "one step at a time", after)
    return Cycle(t=sample.end, mode=Mode.ACTIVE, before=before, decision=decision, samples=(sample,), applied=True)


@pytest.fixture
def story() -> Story:
    small, large = Plan({"split": 1, "count": 2}), Plan({"split": 3, "count": 2})
    recorder = Recorder(Slo(event_latency="500 ms"))
    for minute in range(10):
        before = large if 4 <= minute < 8 else small
        after = large if 3 <= minute < 7 else small
        recorder(_cycle(minute, before, after, 9000.0 if minute == 3 else 100.0, 5e5 if minute == 3 else 0.0))
    return Story(result_of(), recorder)


@pytest.fixture
def result() -> Result:
    return result_of()


def result_of() -> Result:
    return Result(
        policy="ds2",
        workload="clicks",
        trace="surge",
        seed=7,
        seconds=600.0,
        violation_ratio=0.1,
        core_seconds=2_280.0,
        mean_parallelism=3.8,
        rescales=2,
        processed_ratio=1.0,
        throughput_degradation=0.02,
        saved_resources=0.5,
        lost_records=0,
        processing_latency_ms=Latency(50.0, 40.0, 90.0, 120.0),
        event_latency_ms=Latency(100.0, 80.0, 400.0, 9000.0),
        decision_ms=Latency(0.2, 0.1, 0.3, 0.4),
    )
