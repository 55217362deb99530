"""What the user feels, and where instances are added then."""

import json
from dataclasses import replace

from penstock.model import (
    Cycle,
    Decision,
    Latency,
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
from penstock.policies._pressure import Pressure

JOB = Topology.chain(Operator("parse", max=8), Operator("count", max=8))
PLAN = Plan({"parse": 2, "count": 4})
SLO = Slo(event_latency="500 ms")


def window(t: float, latency_ms: float = 9000.0, queue: float = 28_000.0, backlog: float = 0.0) -> Sample:
    busy = OperatorSample(2, records_in=1000.0, useful_seconds=10.0, queue=10.0)
    waits = OperatorSample(4, records_in=1000.0, useful_seconds=20.0, queue=queue)
    return Sample(
        t=t, seconds=10, operators={"parse": busy, "count": waits}, input_rate=100.0, throughput=100.0,
        backlog=backlog, event_latency_ms=Latency(latency_ms),
    )  # fmt: skip


def observed(*windows: Sample, history: tuple[Cycle, ...] = (), plan: Plan = PLAN) -> Observation:
    return Observation(t=windows[-1].end, topology=JOB, slo=SLO, plan=plan, samples=windows, history=history)


def growth(t: float, operator: str, before: Sample) -> Cycle:
    grown = Decision.hold(PLAN.changed({operator: PLAN[operator] + 1}), ReasonCode.SCALE_UP, "")
    return Cycle(t=t, mode=Mode.ACTIVE, before=PLAN, decision=grown, samples=(before,), applied=True)


def test_a_missed_target_is_felt_and_the_operator_with_the_most_waiting_work_grows() -> None:
    seen = observed(*(window(10 * n) for n in range(3)))
    pressure = Pressure()
    assert pressure.felt(seen) == "event latency missed for 3 windows"
    parallelism, why = pressure.relieve(seen)
    assert parallelism == {"parse": 2, "count": 5}
    assert "in front of count" in why


def test_what_a_change_made_wait_itself_is_not_felt_before_its_plan_has_had_three_windows() -> None:
    change, late = growth(30.0, "count", window(20.0)), [window(10.0 * n) for n in range(6)]
    assert Pressure().felt(observed(*late[:5], history=(change,))) is None
    assert Pressure().felt(observed(*late, history=(change,))) is not None


def test_a_queue_that_grows_is_felt_before_a_target_is_missed() -> None:
    seen = observed(*(window(10 * n, latency_ms=100.0, queue=1000.0 * n) for n in range(3)))
    assert "wait, and more with every window" in (Pressure().felt(seen) or "")


def test_a_job_that_catches_up_is_left_to_it() -> None:
    seen = observed(*(window(10 * n, queue=28_000.0 - 5000.0 * n) for n in range(3)))
    assert Pressure().felt(seen) is None


def test_one_bad_window_is_not_felt() -> None:
    seen = observed(window(0, 100.0, 0.0), window(10, 100.0, 0.0), window(20, 9000.0, 5.0))
    assert Pressure().felt(seen) is None


def test_a_growth_that_did_not_help_is_not_repeated() -> None:
    pressure, change = Pressure(), growth(30.0, "count", window(20.0))
    after = tuple(window(30.0 + 10 * n) for n in range(6))
    pressure.learn(observed(*after, history=(change,)))
    assert list(pressure.in_vain) == ["count"]
    assert pressure.relieve(observed(*after))[0] == {"parse": 3, "count": 4}


def test_a_growth_that_helped_may_be_repeated() -> None:
    pressure, change = Pressure(), growth(30.0, "count", window(20.0))
    after = tuple(window(30.0 + 10 * n, queue=20_000.0) for n in range(6))
    pressure.learn(observed(*after, history=(change,)))
    assert pressure.in_vain == {}


def test_when_nothing_is_left_to_try_it_says_so() -> None:
    pressure = Pressure(in_vain={"count": 0.0, "parse": 0.0})
    parallelism, why = pressure.relieve(observed(window(0.0)))
    assert parallelism == PLAN.parallelism
    assert why.startswith("more instances cannot help")
    full = Plan({"parse": 8, "count": 8})
    assert Pressure().relieve(observed(window(0.0), plan=full))[1].startswith("more instances cannot help")


def test_what_was_in_vain_is_tried_again_after_half_an_hour() -> None:
    pressure = Pressure(in_vain={"count": 0.0})
    pressure.learn(observed(window(3000.0)))
    assert pressure.in_vain == {}


def test_missing_figures_are_no_trouble() -> None:
    blind = replace(window(0.0), operators={}, backlog=None, event_latency_ms=None)
    seen = observed(blind, blind, blind)
    assert Pressure().felt(seen) is None
    assert Pressure().relieve(seen)[0]["parse"] == 3


def test_it_goes_on_where_it_stopped() -> None:
    pressure = Pressure(in_vain={"count": 7.0}, judged=5.0)
    assert Pressure.restored(json.loads(json.dumps(pressure.state()))) == pressure
