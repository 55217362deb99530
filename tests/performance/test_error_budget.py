"""What a missed second is worth."""

import json

import pytest

from penstock.model import (
    Cycle,
    Decision,
    Latency,
    Mode,
    Observation,
    Operator,
    Plan,
    ReasonCode,
    Sample,
    Slo,
    Topology,
)
from penstock.performance.error_budget import ErrorBudget

JOB, SLO = Topology((Operator("count"),)), Slo(event_latency="1 s")


def window(t: float, latency_ms: float, warm_up: bool = False) -> Sample:
    return Sample(t=t, seconds=60, operators={}, event_latency_ms=Latency(latency_ms), warm_up=warm_up)


def observed(*windows: Sample, change: bool = False) -> Observation:
    plan = Plan({"count": 2})
    cycles = tuple(
        Cycle(
            t=each.end, mode=Mode.ACTIVE, before=plan, samples=(each,), applied=True,
            decision=Decision.hold(Plan({"count": 3 if change else 2}), ReasonCode.STEADY, ""),
        )
        for each in windows
    )  # fmt: skip
    return Observation(t=windows[-1].end, topology=JOB, slo=SLO, plan=plan, samples=windows, history=cycles)


def no_cost(change: Cycle) -> float:
    return 0.0


def test_missed_seconds_raise_the_price_and_quiet_ones_lower_it() -> None:
    budget = ErrorBudget(0.01)
    budget.learn(observed(window(0, 100)), no_cost)
    quiet = budget.price
    assert quiet < 1
    budget.learn(observed(window(0, 100), window(60, 2000)), no_cost)
    assert budget.price > quiet


def test_each_window_counts_once() -> None:
    budget = ErrorBudget(0.01)
    seen = observed(window(0, 100), window(60, 2000))
    budget.learn(seen, no_cost)
    price = budget.price
    budget.learn(seen, no_cost)
    assert budget.price == price


def test_what_is_missed_before_the_targets_were_first_met_counts_as_well() -> None:
    late_at_first, late_later = ErrorBudget(0.01), ErrorBudget(0.01)
    late_at_first.learn(observed(window(0, 5000), window(60, 100)), no_cost)
    late_later.learn(observed(window(0, 100), window(60, 5000)), no_cost)
    assert late_at_first.price == pytest.approx(late_later.price)
    assert late_at_first.price > 1.0


def test_a_silence_too_short_for_the_mean_of_a_window_counts_too() -> None:
    with_change, without = ErrorBudget(0.01), ErrorBudget(0.01)
    with_change.learn(observed(window(0, 100), change=True), lambda change: 3.0)
    without.learn(observed(window(0, 100)), lambda change: 3.0)
    assert with_change.price > without.price


def test_in_the_long_run_the_price_rests_where_as_much_is_missed_as_may_be() -> None:
    budget = ErrorBudget(0.01)
    for _ in range(100):
        budget.spend(seconds=600, missed=6.0)
    assert budget.price == pytest.approx(1.0)


def test_it_goes_on_where_it_stopped() -> None:
    budget, again = ErrorBudget(0.01), ErrorBudget(0.01)
    budget.learn(observed(window(0, 100), window(60, 2000)), no_cost)
    again.restore(json.loads(json.dumps(budget.state())))
    assert again.state() == budget.state()


def test_the_slots_that_the_job_usually_has_are_an_average_over_a_day() -> None:
    budget = ErrorBudget(0.01, day=1000.0)
    assert budget.slots is None
    budget.hold(seconds=500, slots=10)
    budget.hold(seconds=500, slots=20)
    assert budget.slots == 15
    for _ in range(100):
        budget.hold(seconds=100, slots=40)
    assert budget.slots == pytest.approx(40, rel=1e-3)


def test_what_a_job_had_before_its_targets_were_met_does_not_count() -> None:
    budget = ErrorBudget(0.01)
    budget.learn(observed(window(0, 2000)), no_cost)
    assert budget.slots is None
    budget.learn(observed(window(0, 2000), window(60, 100)), no_cost)
    assert budget.slots == 2
