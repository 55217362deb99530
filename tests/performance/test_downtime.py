"""How long a change stops a job, from windows of which the truth is known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from penstock.model import (
    Cycle,
    Decision,
    Mode,
    Observation,
    Operator,
    OperatorSample,
    Plan,
    Reason,
    ReasonCode,
    Sample,
    Slo,
    Topology,
)
from penstock.performance.downtime import downtime_of

BEFORE, AFTER = Plan({"op": 1}), Plan({"op": 2})


def window(t: float, throughput: float | None, backlog: float = 1e6, warm_up: bool = False) -> Sample:
    return Sample(
        t=t, seconds=60.0, operators={"op": OperatorSample(2)}, input_rate=100.0, throughput=throughput,
        backlog=backlog, warm_up=warm_up,
    )  # fmt: skip


def cycle(t: float, before: Plan, after: Plan, *samples: Sample) -> Cycle:
    decision = Decision(plan=after, reason=Reason(ReasonCode.SCALE_UP, ""))
    return Cycle(t=t, mode=Mode.ACTIVE, before=before, decision=decision, samples=samples, applied=True)


def seen(warm: Sample, latest: Sample) -> Observation:
    return Observation(
        t=latest.end, topology=Topology((Operator("op"),)), slo=Slo(), plan=AFTER, samples=(latest,),
        history=(cycle(60.0, BEFORE, AFTER, window(0.0, 100.0)), cycle(120.0, AFTER, AFTER, warm)),
    )  # fmt: skip


def test_a_job_that_does_two_thirds_of_its_rate_in_a_minute_stood_still_for_a_third_of_it() -> None:
    warm = window(60.0, 100.0, warm_up=True)
    assert downtime_of(seen(warm, window(120.0, 150.0))) == pytest.approx(20.0)
    assert downtime_of(seen(replace(warm, throughput=160.0), window(120.0, 150.0))) == 0.0


def test_windows_that_do_not_tell_are_not_believed() -> None:
    warm = window(60.0, 100.0, warm_up=True)
    assert downtime_of(seen(warm, window(120.0, 150.0, backlog=0.0))) is None  # it did not always have work
    assert downtime_of(seen(replace(warm, warm_up=False), window(120.0, 150.0))) is None
    assert downtime_of(seen(replace(warm, throughput=None), window(120.0, 150.0))) is None
    assert downtime_of(replace(seen(warm, window(120.0, 150.0)), history=())) is None
