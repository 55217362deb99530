"""What a change costs a job."""

import json
from dataclasses import replace

import pytest

from penstock.model import (
    Actuation,
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
from penstock.performance.change_cost import ChangeCost, silence_of
from penstock.performance.rungs import Rung
from penstock.performance.state_price import FIXED_SECONDS, SECONDS_PER_BYTE

SLO, RATE, CAPACITY, USUAL = Slo(event_latency="1 s"), 1000.0, 1500.0, 0.1


class Known:
    """A job of which everything is known."""

    def rung(self, parallelism: object, topology: Topology, slo: Slo) -> Rung:
        return Rung({"count": 3}, 3, 1200.0, CAPACITY, 0.0, True)

    def latency(self, parallelism: object, rate: float, topology: Topology, slo: Slo) -> float:
        return USUAL


def windows_after(
    silence: float, seconds: float = 10.0, count: int = 6, state_bytes: float | None = None
) -> list[Sample]:
    """Windows of a job that is silent, then works off what waits, record by record in steps of 10 ms."""
    step, waiting, waited, found = 0.01, 0.0, 0.0, []
    for n in range(count):
        done = 0.0
        for i in range(round(seconds / step)):
            t = n * seconds + i * step
            waiting += RATE * step
            leaves = min(waiting, CAPACITY * step) if t >= silence else 0.0
            waiting -= leaves
            done += leaves
            waited += waiting * step
        latency = Latency(1e3 * (USUAL + waited / done)) if done else None  # records show it when they leave
        waited = 0.0 if done else waited
        window = Sample(
            t=100 + n * seconds, seconds=seconds, operators={"count": OperatorSample(3, state_bytes=state_bytes)},
            input_rate=RATE, throughput=done / seconds, backlog=waiting, event_latency_ms=latency, warm_up=n == 0,
        )  # fmt: skip
        found.append(window)
    return found


def after_a_change(
    windows: list[Sample],
    before_ms: float = 100.0,
    actuation: Actuation = Actuation.RESTART,
    took: float | None = None,
) -> Observation:
    topology = Topology((Operator("count", actuation=actuation),))
    old, new = Plan({"count": 2}), Plan({"count": 3})
    before = Sample(t=40, seconds=60, operators={}, input_rate=RATE, backlog=0, event_latency_ms=Latency(before_ms))
    change = Cycle(
        t=100, mode=Mode.ACTIVE, before=old, samples=(before,), applied=True,
        decision=Decision.hold(new, ReasonCode.SCALE_UP, ""), change_seconds=took,
    )  # fmt: skip
    later = Cycle(
        t=160, mode=Mode.ACTIVE, before=new, samples=tuple(windows), applied=True,
        decision=Decision.hold(new, ReasonCode.STEADY, ""),
    )  # fmt: skip
    return Observation(t=220, topology=topology, slo=SLO, plan=new, samples=tuple(windows[1:]), history=(change, later))


@pytest.mark.parametrize("silence", [0.5, 1.0, 3.0, 8.0, 14.0])
def test_the_silence_is_read_off_the_latency_of_what_waited(silence: float) -> None:
    assert silence_of(windows_after(silence), 1e3 * USUAL, CAPACITY) == pytest.approx(silence, rel=0.05)


def test_it_is_learnt_from_a_change() -> None:
    cost, seen = ChangeCost(), after_a_change(windows_after(4.0))
    assert cost.silence(seen.topology) == 1.5  # nominal
    cost.learn(seen, Known())
    assert cost.silence(seen.topology) == pytest.approx(4.0, rel=0.1)


def test_a_change_is_looked_at_once() -> None:
    cost, seen = ChangeCost(), after_a_change(windows_after(4.0))
    cost.learn(seen, Known())
    cost.learn(seen, Known())
    assert cost.changes == 1


def test_how_long_a_larger_plan_waits_for_its_executors_is_learnt_from_each_growth_once() -> None:
    cost, seen = ChangeCost(), after_a_change(windows_after(4.0), before_ms=5000.0, took=9.0)
    with_executors = replace(seen.plan, executors=2)
    assert cost.arrival(seen.plan) == 0.0
    assert cost.arrival(with_executors) == 10.0  # nominal
    for _ in range(2):
        cost.learn(seen, Known())
        assert cost.arrival(with_executors) == 9.0
    [change, later] = seen.history
    smaller = replace(change, t=130.0, before=Plan({"count": 8}), change_seconds=1.0)
    cost.learn(replace(seen, history=(smaller, later)), Known())
    assert cost.arrival(with_executors) == 9.0


def test_a_job_that_missed_its_targets_before_shows_nothing() -> None:
    cost = ChangeCost()
    cost.learn(after_a_change(windows_after(4.0), before_ms=5000.0), Known())
    assert cost.measured is None


def test_until_then_whole_windows_without_a_record_are_the_silence() -> None:
    cost = ChangeCost()
    cost.learn(after_a_change(windows_after(25.0), before_ms=5000.0), Known())
    assert cost.measured == 20.0  # two windows of ten seconds, and a part of the third


def test_it_is_not_judged_before_what_waited_has_gone() -> None:
    windows, cost = windows_after(14.0), ChangeCost()
    cost.learn(after_a_change(windows[:3]), Known())
    assert cost.measured is None
    cost.learn(after_a_change(windows), Known())
    assert cost.measured == pytest.approx(14.0, rel=0.1)


def test_before_a_change_it_is_nominal_by_what_the_engine_must_do() -> None:
    nominal = [ChangeCost().silence(Topology((Operator("count", actuation=kind),))) for kind in Actuation]
    assert nominal == sorted(nominal)
    assert nominal[0] == 0.0


def test_a_missing_figure_shows_nothing() -> None:
    assert silence_of([Sample(t=0, seconds=10, operators={}, input_rate=1.0)], 1.0, 2.0) is None


def test_it_goes_on_where_it_stopped() -> None:
    cost, seen = ChangeCost(), after_a_change(windows_after(4.0))
    cost.learn(seen, Known())
    assert ChangeCost.restored(json.loads(json.dumps(cost.state()))).state() == cost.state()


def with_state(state_bytes: float | None, silence: float, took: float | None = None) -> Observation:
    """After a change of a query that keeps so much state."""
    windows = windows_after(silence, count=12, state_bytes=state_bytes)
    return after_a_change(windows, actuation=Actuation.STATE_REPARTITION, took=took)


@pytest.mark.parametrize("state_bytes", [0.0, 1e7, 1e9])
def test_before_a_change_moving_state_costs_by_the_measured_line(state_bytes: float) -> None:
    cost, seen = ChangeCost(), with_state(state_bytes, 4.0)
    cost.learn(replace(seen, history=seen.history[1:]), Known())
    assert cost.silence(seen.topology) == pytest.approx(FIXED_SECONDS + SECONDS_PER_BYTE * state_bytes)


def test_after_a_change_of_its_own_a_larger_state_is_dearer_than_that_change() -> None:
    cost, seen = ChangeCost(), with_state(1e9, 14.0)
    cost.learn(seen, Known())
    assert cost.silence(seen.topology) == pytest.approx(14.0, rel=0.15)
    as_large = cost.silence(seen.topology)
    grown = replace(seen, samples=with_state(2e9, 14.0).samples)
    cost.learn(grown, Known())
    assert cost.changes == 1
    assert cost.silence(seen.topology) > 1.2 * as_large


def test_state_that_does_not_move_costs_nothing_by_its_bytes() -> None:
    cost, windows = ChangeCost(), windows_after(4.0, state_bytes=1e9)
    seen = after_a_change(windows, actuation=Actuation.RESTART)
    cost.learn(seen, Known())
    assert cost.state_price.changes == 0
    assert cost.silence(seen.topology) == pytest.approx(4.0, rel=0.1)


def test_state_that_is_only_in_memory_so_far_moves_as_well() -> None:
    seen = with_state(0.0, 4.0)
    operators = {"count": OperatorSample(3, state_bytes=0.0, state_memory_bytes=3e8)}
    window = replace(seen.latest, operators=operators)
    cost = ChangeCost()
    cost.learn(replace(seen, samples=(*seen.samples, window), history=seen.history[1:]), Known())
    assert cost.state_bytes == 3e8


def test_a_window_that_does_not_say_leaves_the_bytes_as_they_were() -> None:
    cost, seen = ChangeCost(), with_state(1e9, 4.0)
    cost.learn(seen, Known())
    cost.learn(replace(seen, samples=with_state(None, 4.0).samples), Known())
    assert cost.state_bytes == 1e9


def test_the_time_in_which_state_moves_is_not_taken_for_waiting_for_executors() -> None:
    cost, seen = ChangeCost(), with_state(0.0, 4.0, took=9.0)
    cost.learn(seen, Known())
    assert cost.arrival(seen.plan) == pytest.approx(9.0 - FIXED_SECONDS)
