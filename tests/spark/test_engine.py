"""Slots come before the plan that needs them, and go after the plan that needed them: for every engine."""

from __future__ import annotations

import logging
from typing import ClassVar

import pytest

from penstock.model import Execution, InvalidValueError, Operator, Plan, Topology
from penstock.spark.executors.slots import NotEnoughSlotsError
from recorded_slots import RecordedEngine, RecordedSlots

JOB = Topology((Operator("split"), Operator("count")))


def plan(split: int, count: int = 1) -> Plan:
    return Plan({"split": split, "count": count})


@pytest.fixture
def slots() -> RecordedSlots:
    return RecordedSlots()


@pytest.fixture
def engine(slots: RecordedSlots) -> RecordedEngine:
    return RecordedEngine(JOB, slots)


def test_slots_are_there_before_a_start_and_a_growth_and_leave_after_a_shrinkage(
    engine: RecordedEngine, slots: RecordedSlots
) -> None:
    slots.there = 3  # a standalone application begins with all that it may have
    engine.start(plan(1))
    assert slots.calls == [("require", 2), ("start", 2), ("give_back", 2)]
    assert slots.there == 1
    slots.calls.clear()
    engine.apply(plan(8))
    engine.apply(plan(2))
    assert slots.calls == [
        ("require", 9), ("change", 9), ("give_back", 9),
        ("require", 3), ("change", 3), ("give_back", 3),
    ]  # fmt: skip
    assert slots.there == 1


def test_the_plan_in_force_says_its_executors(engine: RecordedEngine) -> None:
    engine.start(plan(1))
    assert engine.plan() == Plan({"split": 1, "count": 1}, executors=1)
    engine.apply(plan(4))
    assert engine.plan() == Plan({"split": 4, "count": 1}, executors=2)


def test_without_executors_a_plan_says_none_of_them_whatever_an_earlier_run_had() -> None:
    engine = RecordedEngine(JOB, RecordedSlots(most=None))
    engine.start(Plan({"split": 1, "count": 1}, executors=7))
    assert engine.plan() == plan(1)
    assert not engine.changes_executors


def test_what_came_for_a_change_that_fails_goes_again(engine: RecordedEngine, slots: RecordedSlots) -> None:
    engine.start(plan(1))
    engine.fails = True
    with pytest.raises(OSError, match="no cluster"):
        engine.apply(plan(8))
    assert (slots.there, engine.plan()["split"]) == (1, 1)


def test_a_cluster_with_too_little_leaves_the_old_plan_in_force_and_keeps_what_it_gave(
    engine: RecordedEngine, slots: RecordedSlots
) -> None:
    engine.start(plan(1))
    slots.calls.clear()
    slots.available = 2
    with pytest.raises(NotEnoughSlotsError, match="no worker is free"):
        engine.apply(plan(8))
    assert slots.calls == [("require", 9), ("give_back", 2)]
    assert (slots.there, engine.plan()["split"]) == (1, 1)


def test_executors_that_could_not_be_released_do_not_make_a_change_fail(
    engine: RecordedEngine, slots: RecordedSlots, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "penstock")
    engine.start(plan(8))
    slots.breaks = True
    engine.apply(plan(1))
    assert (engine.plan()["split"], slots.there) == (1, 3)
    assert "executors could not be released: OSError: nobody listens" in caplog.text
    slots.breaks = False
    engine.give_back()
    assert slots.there == 1


def test_operators_that_run_sequentially_also_run_on_fewer_slots_than_they_could_use(slots: RecordedSlots) -> None:
    class Sequential(RecordedEngine):
        execution: ClassVar[Execution] = Execution.SEQUENTIAL

    engine = Sequential(JOB, slots)
    engine.start(plan(20))
    assert (slots.there, engine.plan().executors) == (3, 3)


def test_a_plan_of_another_job_is_refused_before_slots_are_asked_for(
    engine: RecordedEngine, slots: RecordedSlots
) -> None:
    engine.start(plan(1))
    slots.calls.clear()
    with pytest.raises(InvalidValueError, match="operator 'other' is not known"):
        engine.apply(Plan({"other": 3}))
    assert slots.calls == []
