"""The loop as its owner sees it: whatever goes wrong inside, the job keeps its plan and the loop goes on."""

import pytest

from loop_fakes import LARGE, SMALL, Counts, Doubles, Job, Ticks, Wants, a_loop, code, sample
from penstock.control.loop import Settings
from penstock.model import (
    Mode,
    Operator,
    ReasonCode,
    Topology,
)
from penstock.stores.memory import MemoryStore

# How far it may go -------------------------------------------------------------------------------------------


def test_an_active_loop_acts_and_records_exactly_one_cycle() -> None:
    loop = a_loop()
    cycle = loop.run_once()
    assert loop.actuator.plan() == LARGE
    assert cycle.changed
    assert (cycle.t, cycle.before, cycle.decision.plan) == (10, SMALL, LARGE)
    assert cycle.samples == (sample(0),)
    assert list(loop.store.recent(10)) == [cycle]


def test_executors_that_leave_are_counted_once_the_change_is_made() -> None:
    job = Job(LARGE)
    loop = a_loop(policy=Wants(SMALL), actuator=job, leaving=lambda: LARGE["split"] - job.in_force["split"])
    assert loop.run_once().leaving == 1


def test_a_cluster_that_cannot_tell_who_leaves_costs_no_cycle() -> None:
    def fails() -> int:
        raise ConnectionError("no route to the driver")

    cycle = a_loop(leaving=fails).run_once()
    assert cycle.changed
    assert cycle.leaving is None


def test_a_monitoring_loop_decides_and_records_and_never_acts() -> None:
    loop = a_loop(mode=Mode.MONITOR)
    cycle = loop.run_once()
    assert loop.actuator.plan() == SMALL
    assert cycle.decision.plan == LARGE
    assert not cycle.applied
    assert list(loop.store.recent(10)) == [cycle]


def test_a_loop_that_is_off_does_not_even_ask() -> None:
    policy = Wants()
    loop = a_loop(mode=Mode.OFF, policy=policy)
    cycle = loop.run_once()
    assert code(cycle) is ReasonCode.SWITCHED_OFF
    assert policy.seen == []
    assert not cycle.applied


def test_a_policy_sees_the_cycles_before_this_one() -> None:
    policy = Wants()
    loop = a_loop(policy=policy)
    first, second, _ = (loop.run_once() for _ in range(3))
    assert [observation.history for observation in policy.seen] == [(), (first,), (first, second)]
    assert policy.seen[2].last_change == first


def test_the_windows_are_bounded() -> None:
    policy = Wants()
    settings = Settings(10, policy_limit_seconds=None, remembered_samples=2, remembered_cycles=1)
    loop = a_loop(policy=policy, settings=settings)
    for _ in range(3):
        loop.run_once()
    assert [s.t for s in policy.seen[-1].samples] == [10, 20]
    assert len(policy.seen[-1].history) == 1


# Learners and forecasters ------------------------------------------------------------------------------------


def test_a_learner_sees_each_new_sample_in_turn() -> None:
    learner = Counts()
    loop = a_loop(readings=[[sample(0), sample(10)], [], [sample(20)]], policy=learner)
    for _ in range(3):
        loop.run_once()
    assert learner.times == [0, 10, 20]
    assert loop.store.state("counts") == {"times": [0, 10, 20]}


def test_samples_that_were_stale_when_they_came_are_learnt_with_the_next_ones() -> None:
    learner = Counts()
    loop = a_loop(readings=[[sample(0)], [sample(990)]], policy=learner, clock=Ticks(900))
    assert code(loop.run_once()) is ReasonCode.STALE_METRICS
    assert learner.times == []
    loop.clock = Ticks(990)
    loop.run_once()
    assert learner.times == [0, 990]


def test_a_learner_that_breaks_on_a_sample_is_a_hold_and_learns_from_the_next() -> None:
    learner = Counts(poison=10)
    loop = a_loop(policy=learner)
    codes = [code(loop.run_once()) for _ in range(3)]
    assert codes == [ReasonCode.STEADY, ReasonCode.POLICY_FAILED, ReasonCode.STEADY]
    assert learner.times == [0, 20]


def test_a_learner_that_cannot_say_what_it_knows_costs_no_cycle(caplog: pytest.LogCaptureFixture) -> None:
    learner = Counts()
    loop = a_loop(policy=learner)
    loop.run_once()
    learner.mute = True
    loop.run_once()
    loop.run_once()
    assert len(loop.store.recent(10)) == 3
    assert loop.store.state("counts") == {"times": [0]}
    assert [r.getMessage() for r in caplog.records] == [
        "counts cannot say what it knows: ZeroDivisionError: lost count"
    ]


def test_a_forecast_reaches_the_policy() -> None:
    policy = Wants()
    loop = a_loop(readings=[[sample(0, rate=100)], [sample(10, rate=150)]], policy=policy, forecaster=Doubles())
    loop.run_once()
    loop.run_once()
    forecasts = [observation.forecast for observation in policy.seen]
    assert [(f.forecaster, f.input_rate) for f in forecasts if f is not None] == [("doubles", 200), ("doubles", 300)]


def test_a_forecaster_that_fails_is_a_hold_that_names_it() -> None:
    cycle = a_loop(forecaster=Doubles(broken=True)).run_once()
    assert code(cycle) is ReasonCode.POLICY_FAILED
    assert cycle.decision.reason.text == (
        "wants failed: its forecaster doubles failed: ZeroDivisionError: no slope"
    )  # fmt: skip


# Another process takes over ----------------------------------------------------------------------------------


def test_a_new_process_takes_up_window_models_and_plan() -> None:
    store = MemoryStore()
    first = a_loop(readings=[[sample(0, warm_up=True), sample(0)], [sample(10)]], policy=Counts(), store=store)
    first.actuator.apply(LARGE)
    history = (first.run_once(), first.run_once())

    learner, forecaster = Counts(), Doubles()
    second = a_loop(readings=[[sample(20)]], policy=learner, forecaster=forecaster, store=store, clock=Ticks(20))
    assert second.resume() == LARGE
    assert learner.times == [0, 10]
    second.run_once()
    assert learner.times == [0, 10, 20]  # nothing is learnt twice
    assert forecaster.rates == [100, 100, 100]
    assert tuple(second._history)[:2] == history
    assert [s.t for s in second._samples] == [0, 10, 20]


def test_the_plan_taken_up_is_the_one_in_force_not_the_one_wanted() -> None:
    store = MemoryStore()
    a_loop(store=store, mode=Mode.MONITOR).run_once()
    assert a_loop(store=store).resume() == SMALL
    a_loop(store=store, actuator=Job(stuck=True)).run_once()
    assert a_loop(store=store).resume() == SMALL
    a_loop(store=store).run_once()
    assert a_loop(store=store).resume() == LARGE


def test_a_forecaster_that_fails_on_the_past_does_not_cost_the_learner_its_state() -> None:
    store, learner = MemoryStore(), Counts()
    a_loop(store=store, policy=Counts()).run_once()
    assert a_loop(store=store, policy=learner, forecaster=Doubles(broken=True)).resume() == SMALL
    assert learner.times == [0]


def test_there_is_nothing_to_take_up_from_an_empty_store() -> None:
    assert a_loop().resume() is None


def test_the_past_of_a_job_with_other_operators_is_left_alone() -> None:
    store = MemoryStore()
    a_loop(store=store, policy=Counts()).run_once()
    learner = Counts()
    renamed = a_loop(store=store, policy=learner, topology=Topology((Operator("cut"),)))
    assert renamed.resume() is None
    assert learner.times == []
    assert not renamed._history


def test_a_learner_that_cannot_take_up_its_state_starts_afresh(caplog: pytest.LogCaptureFixture) -> None:
    store = MemoryStore()
    a_loop(store=store, policy=Counts()).run_once()
    store.record(store.recent(1)[0], "counts", {"of": "an older version"})
    loop = a_loop(store=store, policy=Counts())
    assert loop.resume() == SMALL
    assert "counts cannot take up what was known, it starts afresh: KeyError: 'times'" in caplog.text
    loop.run_once()  # the window that the earlier process saw
    assert code(loop.run_once()) is ReasonCode.STEADY
