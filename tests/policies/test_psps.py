"""PSPS: the paper's worked examples, its laws, and a surge from beginning to end."""

from __future__ import annotations

import sys
from dataclasses import replace
from types import ModuleType
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.control.think import think
from penstock.model import (
    Forecast,
    InvalidValueError,
    MissingFigureError,
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
from penstock.policies.psps import Psps

CHAIN = Topology(tuple(map(Operator, ("o1", "o2", "o3"))), (("o1", "o2"), ("o2", "o3")))
EXECUTION_MS = {"o1": 16.6, "o2": 25.0, "o3": 100.0}


def observe(topology: Topology, sample: Sample, plan: Plan | None = None) -> Observation:
    return Observation(
        t=sample.end, topology=topology, slo=Slo(), plan=plan or Plan.smallest(topology), samples=(sample,)
    )


def table_2() -> Observation:
    """The interval of Table II (a), one second long."""
    operators = {
        "o1": OperatorSample(2, records_in=140, queue=0, useful_seconds=140 * 0.0166),
        "o2": OperatorSample(3, records_in=120, queue=7, useful_seconds=120 * 0.025, records_from={"o1": 117}),
        "o3": OperatorSample(9, records_in=90, queue=20, useful_seconds=90 * 0.1, records_from={"o2": 90}),
    }
    return observe(CHAIN, Sample(t=0, seconds=1, operators=operators, input_rate=100.0))


def test_table_2_with_the_counts_it_was_measured_from() -> None:
    decision = Psps(window_seconds=1, execution_ms=EXECUTION_MS).decide(table_2())
    assert decision.plan.parallelism == {"o1": 2, "o2": 3, "o3": 9}
    assert decision.figures["received"] == {"o1": 100, "o2": 84, "o3": 63}
    assert decision.figures["to_process"] == {"o1": 100, "o2": 91, "o3": 83}
    assert decision.figures["replicas"] == {"o1": 2, "o2": 3, "o3": 9}
    assert decision.figures["lambda_G"] == {"o1": 100}


def test_table_2_with_the_thetas_it_prints() -> None:
    observation = table_2()
    operators = dict(observation.latest.operators)
    operators["o1"] = replace(operators["o1"], records_in=1000)
    operators["o2"] = replace(operators["o2"], records_from={"o1": 833})
    operators["o3"] = replace(operators["o3"], records_from={"o2": 120 * 0.625 / 0.833})
    observation = replace(observation, samples=(replace(observation.latest, operators=operators),))
    decision = Psps(window_seconds=1, execution_ms=EXECUTION_MS).decide(observation)
    assert decision.figures["theta"] == pytest.approx({"o1": 1, "o2": 0.833, "o3": 0.625})
    assert decision.figures["received"] == {"o1": 100, "o2": 84, "o3": 63}
    assert decision.plan.parallelism == {"o1": 2, "o2": 3, "o3": 9}


def test_without_a_benchmark_execution_times_are_measured_as_the_job_runs() -> None:
    decision = Psps(window_seconds=1, execution_ms={"o3": 50.0}).decide(table_2())
    assert decision.figures["et"] == pytest.approx({"o1": 16.6, "o2": 25, "o3": 50})
    assert decision.plan.parallelism == {"o1": 2, "o2": 3, "o3": 5}


def test_a_longer_interval_gives_the_queue_more_time() -> None:
    decision = Psps(execution_ms=EXECUTION_MS).decide(table_2())  # td = 30 s, the paper's choice
    assert decision.figures["td"] == 30
    assert decision.figures["to_process"] == {"o1": 3000, "o2": 2508 + 7, "o3": 1881 + 20}
    assert decision.plan.parallelism == {"o1": 2, "o2": 3, "o3": 7}


def test_lambda_g_is_what_came_in_the_whole_interval() -> None:
    """300, 300 and 10 events/s in three samples of 10 s: 6,100 events in td, each of 10 ms, need three replicas."""
    one = Topology((Operator("o1", max=9),))
    samples = tuple(
        Sample(t=10.0 * i, seconds=10.0, input_rate=rate, operators={
            "o1": OperatorSample(1, records_in=10 * rate, useful_seconds=0.1 * rate, queue=0)})
        for i, rate in enumerate((5000.0, 300.0, 300.0, 10.0))
    )  # fmt: skip
    observation = replace(observe(one, samples[-1]), samples=samples)
    decision = Psps(window_seconds=30).decide(observation)
    assert decision.figures["lambda_G"] == pytest.approx({"o1": 6100})
    assert decision.plan["o1"] == 3
    assert Psps(window_seconds=10).decide(observation).figures["lambda_G"] == pytest.approx({"o1": 100})


def test_thetas_are_those_of_the_whole_interval_too() -> None:
    """A filter lets all pass, then nothing: half of the interval's events went on."""
    two = Topology((Operator("o1"), Operator("o2", max=9)), (("o1", "o2"),))
    samples = tuple(
        Sample(t=15.0 * i, seconds=15.0, input_rate=100.0, operators={
            "o1": OperatorSample(1, records_in=1500, records_out=sent, useful_seconds=1.5, queue=0),
            "o2": OperatorSample(1, records_in=sent, useful_seconds=sent / 1000, queue=0, records_from={"o1": sent})})
        for i, sent in enumerate((1500.0, 0.0))
    )  # fmt: skip
    decision = Psps(window_seconds=30).decide(replace(observe(two, samples[-1]), samples=samples))
    assert decision.figures["theta"] == pytest.approx({"o1": 1.0, "o2": 0.5})


def test_every_root_counts_with_its_own_stream() -> None:
    topology = Topology(tuple(map(Operator, ("clicks", "views", "join"))), (("clicks", "join"), ("views", "join")))
    operators = {
        "clicks": OperatorSample(1, records_in=100, records_out=100, queue=0, useful_seconds=1),
        "views": OperatorSample(1, records_in=100, records_out=50, queue=0, useful_seconds=1),
        "join": OperatorSample(1, records_in=150, queue=0, useful_seconds=15),
    }
    rates = {"clicks": 10.0, "views": 200.0}
    decision = Psps().decide(observe(topology, Sample(t=0, seconds=10, operators=operators, input_rate=rates)))
    assert decision.figures["theta_by_root"]["join"] == {"clicks": 1.0, "views": 0.5}
    assert decision.figures["received"] == {"clicks": 300, "views": 6000, "join": 300 + 3000}
    assert decision.plan.parallelism == {"clicks": 1, "views": 2, "join": 11}

    every_root_gets_all = Sample(t=0, seconds=10, operators=operators, input_rate=10.0)
    decision = Psps().decide(observe(topology, every_root_gets_all))
    assert decision.figures["theta"] == {"clicks": 1.0, "views": 1.0, "join": 1.5}
    assert decision.figures["received"]["join"] == 300 * 1.5


def test_the_pool_is_the_limit_and_a_reader_without_a_partition_is_of_no_use() -> None:
    small = Topology((Operator("o1", min=2), Operator("o2"), Operator("o3", max=4)), CHAIN.edges, source_partitions=3)
    asked = Psps(window_seconds=1, execution_ms={"o1": 100, "o2": 25, "o3": 100})
    decision = asked.decide(replace(table_2(), topology=small))
    assert decision.figures["replicas"] == {"o1": 10, "o2": 3, "o3": 9}
    assert decision.plan.parallelism == {"o1": 3, "o2": 3, "o3": 4}


def test_the_loops_forecast_stands_for_the_next_interval() -> None:
    observation = replace(table_2(), forecast=Forecast("oracle", 200.0))
    decision = Psps(window_seconds=1, execution_ms=EXECUTION_MS).decide(observation)
    assert decision.figures["received"] == {"o1": 200, "o2": 168, "o3": 126}  # 117/140 and 90/120 of it


class Doubling:
    """A forecaster that expects twice the last rate."""

    name: ClassVar[str] = "doubling"
    source: ClassVar[str] = ""

    def __init__(self) -> None:
        self.last: float | None = None

    def learn(self, t: float, rate: float) -> None:
        self.last = rate

    def predict(self, seconds_ahead: float) -> float | None:
        return None if self.last is None else 2 * self.last


def test_a_forecaster_of_its_own_goes_before_the_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("brought_along")
    module.Doubling = Doubling  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "brought_along", module)
    policy = Psps(window_seconds=1, execution_ms=EXECUTION_MS, forecaster="brought_along:Doubling")
    decision = policy.decide(replace(table_2(), forecast=Forecast("oracle", 900.0)))
    assert decision.figures["lambda_G"] == {"o1": 200}


def test_a_queue_that_nobody_measured_holds_the_plan() -> None:
    observation = table_2()
    operators = dict(observation.latest.operators)
    operators["o2"] = replace(operators["o2"], queue=None)
    observation = replace(observation, samples=(replace(observation.latest, operators=operators),))
    with pytest.raises(MissingFigureError, match="queue of o2"):
        Psps(execution_ms=EXECUTION_MS).decide(observation)
    held = think(Psps(execution_ms=EXECUTION_MS), (), observation, fresh=1)
    assert held.plan == observation.plan
    assert held.reason.code is ReasonCode.MISSING_METRICS


def test_options_are_refused_by_name() -> None:
    with pytest.raises(InvalidValueError, match="window_seconds must"):
        Psps(window_seconds=0)
    with pytest.raises(InvalidValueError, match="execution_ms of o1 must"):
        Psps(execution_ms={"o1": 0})
    with pytest.raises(InvalidValueError, match="forecaster 'tea_leaves' is not known"):
        Psps(forecaster="tea_leaves")
    with pytest.raises(InvalidValueError, match="execution_ms 'o9' is not known"):
        Psps(execution_ms={"o9": 5}).decide(table_2())


def test_the_catalog_makes_it_from_plain_values() -> None:
    policy = POLICIES.create("psps", {"window_seconds": 1, "execution_ms": EXECUTION_MS})
    assert policy.decide(table_2()).plan.total == 14


@given(st.floats(0, 1e4), st.floats(0, 1e4), st.floats(0, 1e3), st.floats(0, 1e3))
def test_more_input_or_a_longer_queue_never_means_fewer_replicas(
    rate: float, more: float, queue: float, longer: float
) -> None:
    def replicas(input_rate: float, waiting: float) -> Plan:
        sample = table_2().latest
        operators = {name: replace(operator, queue=waiting) for name, operator in sample.operators.items()}
        sample = replace(sample, operators=operators, input_rate=input_rate)
        return Psps(window_seconds=5, execution_ms=EXECUTION_MS).decide(observe(CHAIN, sample)).plan

    before, after = replicas(rate, queue), replicas(rate + more, queue + longer)
    assert all(after[name] >= before[name] for name in CHAIN.names)


def respond(plan: Plan, rate: float, queues: dict[str, float], t: float) -> tuple[Sample, dict[str, float]]:
    """A job that does exactly what its replicas can do in 30 seconds, and queues the rest."""
    coming, operators, left = 30 * rate, {}, {}
    for name, parent in zip(CHAIN.names, (None, "o1", "o2"), strict=True):
        able = plan[name] * 30 * 1000 / EXECUTION_MS[name]
        processed = min(coming + queues[name], able)
        left[name] = queues[name] + coming - processed
        operators[name] = OperatorSample(
            plan[name], records_in=processed, records_out=processed, queue=left[name],
            useful_seconds=processed * EXECUTION_MS[name] / 1e3,
            records_from=None if parent is None else {parent: coming},
        )  # fmt: skip
        coming = processed
    return Sample(t=t, seconds=30, operators=operators, input_rate=rate), left


def test_a_surge_is_queued_cleared_two_intervals_later_and_its_replicas_given_back() -> None:
    policy, plan = Psps(), Plan({"o1": 1, "o2": 1, "o3": 2})
    queues = dict.fromkeys(CHAIN.names, 0.0)
    seen = []
    for interval, rate in enumerate([20, 20, 100, 100, 100, 100, 20, 20]):
        sample, queues = respond(plan, rate, queues, t=30.0 * interval)
        decision = policy.decide(observe(CHAIN, sample, plan))
        waiting = [round(queues[name]) for name in CHAIN.names]
        seen.append((list(plan.parallelism.values()), waiting, decision.reason.code.value))
        plan = decision.plan
    assert seen == [
        ([1, 1, 2], [0, 0, 0], "steady"),
        ([1, 1, 2], [0, 0, 0], "steady"),
        # 3,000 events in 30 s instead of 600: each operator passes on less than it gets. Theta is taken from what
        # was processed, so it stays 1 and the whole chain is sized in one step, each operator with its own queue.
        ([1, 1, 2], [1193, 607, 600], "scale_up"),
        # The queues of o1 and o2 are gone; all they held now waits at o3, which had not expected it.
        ([3, 4, 12], [0, 0, 1800], "rebalance"),
        ([2, 3, 16], [0, 0, 0], "scale_down"),
        ([2, 3, 10], [0, 0, 0], "steady"),
        # The surge is over, and so is the need.
        ([2, 3, 10], [0, 0, 0], "scale_down"),
        ([1, 1, 2], [0, 0, 0], "steady"),
    ]
