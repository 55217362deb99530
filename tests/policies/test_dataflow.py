"""Dataflow's published conditions, one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from penstock.control.think import think
from penstock.model import (
    Decision,
    InvalidValueError,
    Observation,
    Operator,
    OperatorSample,
    Plan,
    ReasonCode,
    Sample,
    Slo,
    Topology,
)
from penstock.policies import POLICIES
from penstock.policies.dataflow import Dataflow

JOB = Topology.chain(Operator("read", max=40), Operator("count", max=40))
PLAN = Plan({"read": 4, "count": 6})


def window(
    t: float, backlog: float = 0.0, busy: Sequence[float] = (2, 3), throughput: float = 1000, input_rate: float = 1000,
    plan: Plan = PLAN,
) -> Sample:  # fmt: skip
    """A minute in which so many instances were busy."""
    operators = {
        name: OperatorSample(plan[name], useful_seconds=60 * instances)
        for name, instances in zip(JOB.names, busy, strict=True)
    }
    return Sample(
        t=t, seconds=60, operators=operators, backlog=backlog, throughput=throughput, input_rate=input_rate
    )  # fmt: skip


def decide(*samples: Sample, plan: Plan = PLAN, **options: Any) -> Decision:
    observation = Observation(t=samples[-1].end, topology=JOB, slo=Slo(), plan=plan, samples=samples)
    return think(Dataflow(**options), (), observation, fresh=1)


def test_a_lasting_backlog_gets_the_workers_that_clear_it_in_150_seconds() -> None:
    # 100 records/s each: 1000 that come and 150,000 / 150 that wait need 20, shared by useful time.
    full: dict[str, Any] = {"busy": (4, 6), "backlog": 150_000}
    decision = decide(window(0, **full), window(60, **full))
    assert decision.plan == Plan({"read": 8, "count": 12})
    assert decision.figures["backlog_seconds"] == 150
    assert decide(window(0, **full), window(60, **full), clear_seconds=75).plan == Plan({"read": 12, "count": 18})


def test_the_input_counts_as_well_as_the_backlog() -> None:
    full: dict[str, Any] = {"busy": (4, 6), "backlog": 30_000, "input_rate": 1300}
    assert decide(window(0, **full), window(60, **full)).plan == Plan({"read": 6, "count": 9})  # 1.3 + 0.2 times


def test_a_backlog_must_have_lasted_for_two_minutes() -> None:
    full: dict[str, Any] = {"busy": (4, 6), "backlog": 150_000}
    assert decide(window(60, **full)).plan == PLAN
    assert decide(window(0), window(60, **full)).plan == PLAN
    assert decide(window(60, **full), patience=60).plan == Plan({"read": 8, "count": 12})


def test_windows_under_another_plan_do_not_count() -> None:
    full: dict[str, Any] = {"busy": (4, 6), "backlog": 150_000}
    assert decide(window(0, **full, plan=Plan({"read": 4, "count": 5})), window(60, **full)).plan == PLAN


@pytest.mark.parametrize(("backlog", "grows"), [(15_000, False), (15_001, True)])
def test_more_than_15_seconds_are_a_backlog(backlog: float, grows: bool) -> None:
    full: dict[str, Any] = {"busy": (4, 6), "backlog": backlog}
    assert (decide(window(0, **full), window(60, **full)).plan != PLAN) is grows


@pytest.mark.parametrize(("busy", "grows"), [((0.8, 1.2), True), ((0.8, 1.1), False)])
def test_workers_that_use_less_than_a_fifth_of_their_cpu_are_not_the_bottleneck(
    busy: tuple[float, float], grows: bool
) -> None:
    slow: dict[str, Any] = {"busy": busy, "backlog": 150_000}
    assert (decide(window(0, **slow), window(60, **slow)).plan != PLAN) is grows


def test_without_a_backlog_it_shrinks_to_the_hint() -> None:
    assert decide(window(0), window(60)).plan == Plan({"read": 3, "count": 4})  # 2 and 3 busy at 80 %
    assert decide(window(0), window(60), worker_utilization_hint=0.6).plan == Plan({"read": 4, "count": 5})
    assert decide(window(60)).plan == PLAN  # not for two minutes yet


@pytest.mark.parametrize(("backlog", "shrinks"), [(9_999, True), (10_000, False), (14_000, False)])
def test_nothing_shrinks_while_ten_seconds_wait(backlog: float, shrinks: bool) -> None:
    assert (decide(window(0, backlog), window(60, backlog)).plan != PLAN) is shrinks


def test_nothing_shrinks_while_the_workers_are_busy_to_the_hint() -> None:
    busy: dict[str, Any] = {"busy": (3, 5)}
    assert decide(window(0, **busy), window(60, **busy)).plan == PLAN


def test_growing_takes_nothing_and_shrinking_gives_nothing() -> None:
    uneven: dict[str, Any] = {"busy": (0.5, 6), "backlog": 150_000}
    assert decide(window(0, **uneven), window(60, **uneven)).plan == Plan({"read": 4, "count": 19})
    hot: dict[str, Any] = {"busy": (0.5, 5.9)}
    assert decide(window(0, **hot), window(60, **hot)).plan == Plan({"read": 1, "count": 6})


def test_a_job_that_completes_nothing_does_not_show_what_a_worker_can_do() -> None:
    stuck: dict[str, Any] = {"backlog": 1000, "throughput": 0}
    decision = decide(window(0, **stuck), window(60, **stuck))
    assert (decision.plan, decision.reason.code) == (PLAN, ReasonCode.MISSING_METRICS)


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(InvalidValueError, match=r"worker_utilization_hint must be more than 0 and at most 1, not 1\.2"):
        POLICIES.create("dataflow", {"worker_utilization_hint": 1.2})
    with pytest.raises(InvalidValueError, match=r"low_backlog must be between 0 and high_backlog \(15\), not 20\.0"):
        POLICIES.create("dataflow", {"low_backlog": 20})


def test_a_figure_that_was_missing_before_the_patience_began_is_not_missed() -> None:
    """It looked back over all windows, so that one without a backlog kept it from deciding for two hours."""
    full: dict[str, Any] = {"busy": (4, 6), "backlog": 150_000}
    decision = decide(replace(window(0), backlog=None), window(60, **full), window(120, **full))
    assert decision.plan == Plan({"read": 8, "count": 12})
    assert decide(window(60, **full), replace(window(120), backlog=None)).reason.code is ReasonCode.MISSING_METRICS
