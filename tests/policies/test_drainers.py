"""Max, Proportion and Exponent: three ways to a target throughput."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.control.think import think
from penstock.model import (
    Decision,
    InvalidValueError,
    Latency,
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

SLO = Slo(event_latency="500 ms", drain="6 min")
TOPOLOGY = Topology((Operator("read", max=12), Operator("count", max=20)), (("read", "count"),))
ALL = pytest.mark.parametrize("name", ["max", "proportion", "exponent"])


def ask(name: str, slo: Slo = SLO, **changes: Any) -> Decision:
    """100 records/s arrive and get through at (3, 4); 36,000 wait: V = 100 + (36,000 - 100 * 0.4) / 360 = 199.9."""
    operators = {
        "read": OperatorSample(3, records_in=1000, records_out=1000, useful_seconds=20.0),
        "count": OperatorSample(4, records_in=1000, records_out=1000, useful_seconds=25.0),
    }
    figures = {
        "t": 0.0, "seconds": 10.0, "operators": operators, "input_rate": 100.0, "throughput": 100.0, "backlog": 36e3,
        "processing_latency_ms": Latency(mean=100.0), "event_latency_ms": Latency(mean=9e4),
    }  # fmt: skip
    sample = Sample(**{**figures, **changes})
    plan = Plan({"read": 3, "count": 4})
    observation = Observation(t=10.0, topology=TOPOLOGY, slo=slo, plan=plan, samples=(sample,))
    return think(POLICIES.create(name), (), observation, 1)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("max", {"read": 12, "count": 20}),
        ("proportion", {"read": 6, "count": 8}),  # 1.999 times 3 and 4
        ("exponent", {"read": 6, "count": 8}),
    ],
)
def test_a_backlog_is_met_each_in_its_own_way(name: str, expected: dict[str, int]) -> None:
    decision = ask(name)
    assert dict(decision.plan.parallelism) == expected
    assert decision.reason.code is ReasonCode.SCALE_UP
    assert decision.figures["target_throughput"] == pytest.approx(100 + (36e3 - 40) / 360)


@pytest.mark.parametrize(
    ("name", "throughput", "expected"),
    [
        ("proportion", 150.0, {"read": 4, "count": 6}),
        ("proportion", 10.0, {"read": 12, "count": 20}),
        ("exponent", 150.0, {"read": 6, "count": 8}),
        ("exponent", 200.0, {"read": 3, "count": 4}),
    ],
)
def test_what_gets_through_already_decides_how_far_they_go(
    name: str, throughput: float, expected: dict[str, int]
) -> None:
    assert dict(ask(name, throughput=throughput).plan.parallelism) == expected


@ALL
@pytest.mark.parametrize("slo", [Slo(), SLO], ids=["nothing asked for", "met"])
def test_with_nothing_to_drain_they_keep_up_with_the_least(name: str, slo: Slo) -> None:
    decision = ask(name, slo=slo, event_latency_ms=Latency(mean=400.0))
    assert dict(decision.plan.parallelism) == {"read": 2, "count": 3}  # 50/s and 40/s each
    assert decision.figures["target_throughput"] == 100.0


@ALL
@pytest.mark.parametrize("figure", ["input_rate", "backlog", "throughput"])
def test_a_figure_that_was_not_measured_is_named_in_a_hold(name: str, figure: str) -> None:
    absent: dict[str, Any] = {figure: None}
    decision = ask(name, **absent)
    assert decision.reason.code is ReasonCode.MISSING_METRICS
    assert figure in decision.reason.text


@ALL
def test_a_limit_must_be_some_time(name: str) -> None:
    with pytest.raises(InvalidValueError, match="drain_limit"):
        POLICIES.create(name, {"drain_limit": 0.0})
