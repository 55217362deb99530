"""An observation is all that a policy may look at."""

import math
from typing import Any

import pytest

from penstock.model import (
    Cycle,
    Decision,
    Forecast,
    InvalidValueError,
    MissingFigureError,
    Mode,
    Observation,
    Operator,
    OperatorSample,
    Plan,
    ReasonCode,
    Sample,
    Slo,
    Topology,
)

JOB, PLAN = Topology((Operator("split"),)), Plan({"split": 1})


def observation(*starts: float, history: tuple[Cycle, ...] = ()) -> Observation:
    samples = tuple(Sample(t=t, seconds=10, operators={"split": OperatorSample(1)}) for t in starts)
    return Observation(t=99, topology=JOB, slo=Slo(), plan=PLAN, samples=samples, history=history)


def cycle(t: float, target: Plan, applied: bool = True) -> Cycle:
    decision = Decision.hold(target, ReasonCode.STEADY, "")
    return Cycle(t=t, mode=Mode.ACTIVE, before=PLAN, decision=decision, applied=applied)


def test_the_latest_sample_is_the_last_one() -> None:
    assert observation(0, 10, 20).latest.t == 20


def test_without_samples_there_is_no_latest_one() -> None:
    with pytest.raises(MissingFigureError, match=r"^a sample of the job was not measured$"):
        _ = observation().latest


def test_since_takes_whole_windows_only() -> None:
    assert [sample.t for sample in observation(0, 10, 20).since(10)] == [10, 20]
    assert [sample.t for sample in observation(0, 10, 20).since(11)] == [20]


def test_the_last_change_is_the_newest_plan_that_was_applied() -> None:
    other = Plan({"split": 2})
    history = (cycle(1, other), cycle(2, other), cycle(3, PLAN), cycle(4, other, applied=False))
    found = observation(0, history=history).last_change
    assert found is not None
    assert found.t == 2
    assert observation(0, history=history[2:]).last_change is None


@pytest.mark.parametrize("value", [-1, math.nan, math.inf, None])
def test_a_forecast_is_a_rate(value: Any) -> None:
    with pytest.raises(InvalidValueError) as refused:
        Forecast("last", value)
    assert str(refused.value) == f"forecast: input_rate must be a finite number of at least 0, not {value!r}"
    if value is not None:
        with pytest.raises(InvalidValueError, match=r"^forecast: mean_absolute_error must be"):
            Forecast("last", 1, value)
