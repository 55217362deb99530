"""Where a job gets its first plan from, and what is left of a start that fails. The engine only writes down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, cast

import pytest

from patience import wait_for
from penstock import Slo
from penstock.control.assembly import Steering
from penstock.control.ports import Actuator, Clock, Monitor
from penstock.model import (
    Batch,
    Cycle,
    Decision,
    Execution,
    InvalidValueError,
    Mode,
    OperatorSample,
    Plan,
    ReasonCode,
    Sample,
)
from penstock.model.topology import Operator, Topology
from penstock.spark.engine import SparkEngine
from penstock.spark.executors.claim import Claim, ClaimedError, claim
from penstock.spark.executors.slots import NotEnoughSlotsError
from penstock.spark.job import steer
from penstock.stores import open_store
from penstock.stores.memory import MemoryStore
from recorded_slots import RecordedEngine, RecordedSlots

TOPOLOGY = Topology((Operator("only", min=2, max=8),))
OFF = Steering(mode="off", interval="1 h")


def engine(slots: RecordedSlots | None = None, fails: bool = False) -> RecordedEngine:
    made = RecordedEngine(TOPOLOGY, slots or RecordedSlots(most=None))
    made.fails = fails
    return made


def remembered(checkpoint: Path, parallelism: int) -> None:
    """An earlier run left this plan."""
    checkpoint.mkdir()
    store = open_store(f"sqlite:///{checkpoint / 'penstock.db'}", "job")
    plan = Plan({"only": parallelism})
    decision = Decision.hold(plan, ReasonCode.STEADY, "steady", policy="ds2")
    store.record(Cycle(t=1.0, mode=Mode.ACTIVE, before=plan, decision=decision, samples=(), applied=True), "ds2")
    store.close()


def first_plan(checkpoint: Path, plan: Plan | None = None) -> Plan:
    made = engine()
    made.checkpoint = checkpoint
    with steer(made, "job", Slo(), str(checkpoint), OFF, plan) as job:
        return job.plan


def test_the_first_plan_is_the_given_one_else_that_of_the_store_else_the_smallest(tmp_path: Path) -> None:
    assert first_plan(tmp_path / "new") == Plan({"only": 2})
    remembered(tmp_path / "old", 5)
    assert first_plan(tmp_path / "old") == Plan({"only": 5})
    assert first_plan(tmp_path / "old", Plan({"only": 3})) == Plan({"only": 3})


def test_the_plan_of_an_earlier_run_that_does_not_fit_any_more_gives_way_to_the_smallest(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    remembered(tmp_path / "old", 5)
    too_small = engine(RecordedSlots(most=1, available=1))
    too_small.checkpoint = tmp_path / "old"
    with steer(too_small, "job", Slo(), str(tmp_path / "old"), OFF) as job:
        assert job.plan == Plan({"only": 2}, executors=1)
    assert "as that of its last run does not fit: the plan needs 5 slots, but only 4 are available" in caplog.text
    with pytest.raises(NotEnoughSlotsError):
        steer(engine(RecordedSlots(most=1, available=1)), "job", Slo(), str(tmp_path), OFF, Plan({"only": 5}))


def test_the_end_of_a_job_ends_the_wait_for_executors_first(tmp_path: Path) -> None:
    slots = RecordedSlots()
    with steer(engine(slots), "job", Slo(), str(tmp_path), OFF):
        slots.calls.clear()
    assert [call for call, _ in slots.calls if call != "give_back"] == ["cancel", "stop"]


def test_executors_that_came_late_are_released_after_the_next_cycle(tmp_path: Path) -> None:
    slots, cycles = RecordedSlots(), list[Cycle]()
    often = Steering(mode="off", interval="100 ms")
    with steer(engine(slots), "job", Slo(), str(tmp_path), often, on_cycle=cycles.append):
        slots.there = 3
        wait_for(lambda: slots.there == 1)
    assert {cycle.decision.plan for cycle in cycles} == {Plan({"only": 2}, executors=1)}


class MicroBatches(RecordedEngine):
    """Every batch of a window has 600 records and takes half a second."""

    execution: ClassVar[Execution] = Execution.SEQUENTIAL

    def read(self) -> Sequence[Sample]:
        now, batches = self.now(), (Batch(600, 0.5, 0.4, 0.4),) * 2
        one = OperatorSample(2, records_in=1200, records_out=1200, useful_seconds=0.8)
        window = Sample(t=now - 1, seconds=1, operators={"only": one}, input_rate=1200, throughput=1200)
        return [replace(window, batches=batches)]


def test_the_report_of_micro_batches_says_how_sure_it_is(tmp_path: Path) -> None:
    """Batches that are all alike do not tell what is theirs from what is their records'."""
    watching = Steering(mode="monitor", interval="10 ms")
    with steer(MicroBatches(TOPOLOGY, RecordedSlots()), "job", Slo(), str(tmp_path), watching) as job:
        wait_for(lambda: job.report().notes)
        [said] = job.report().notes
    assert said.startswith("at 1,200 records/s the load fills 0.")
    assert said.endswith("too much alike to tell what a record costs from what every batch costs")
    assert f"note: {said}" in str(job.report())


class WithWork(RecordedEngine):
    """Has more to do than it can, wrote some records twice, and knows what its changes cost."""

    duplicates = 7

    def notes(self) -> list[str]:
        return ["a change silenced the output for 0.5 s"]

    def read(self) -> Sequence[Sample]:
        one = OperatorSample(2, records_in=100, records_out=100, useful_seconds=2.0)
        return [Sample(t=self.now() - 1, seconds=1, operators={"only": one}, input_rate=1_000, throughput=100)]


def test_a_plan_is_kept_within_the_most_executors_and_says_how_many_it_has(tmp_path: Path) -> None:
    cycles: list[Cycle] = []
    greedy = Steering(policy="max", interval="10 ms", guards={"max_step": None})
    working = WithWork(TOPOLOGY, RecordedSlots(most=1))
    with steer(working, "job", Slo(), str(tmp_path), greedy, on_cycle=cycles.append) as job:
        wait_for(lambda: any(cycle.changed for cycle in cycles))
        assert job.plan == Plan({"only": 4}, executors=1)
    assert {cycle.problem for cycle in cycles} == {None}
    changed = next(cycle for cycle in cycles if cycle.changed)
    assert [verdict.guard for verdict in changed.decision.verdicts] == ["executors"]


def test_the_report_has_what_the_engine_knows_of_duplicates_and_changes(tmp_path: Path) -> None:
    with steer(WithWork(TOPOLOGY, RecordedSlots()), "job", Slo(), str(tmp_path), OFF) as job:
        said = str(job.report())
    assert "7 records came twice" in said
    assert "note: a change silenced the output for 0.5 s" in said


def test_a_job_goes_from_monitor_to_active_without_a_restart(tmp_path: Path) -> None:
    slots, cycles = RecordedSlots(most=None), list[Cycle]()
    watching = Steering(policy="max", mode="monitor", interval="10 ms", guards={"max_step": None})
    working = WithWork(TOPOLOGY, slots)
    with steer(working, "job", Slo(), str(tmp_path), watching, on_cycle=cycles.append) as job:
        wait_for(lambda: any(cycle.decision.plan != cycle.before for cycle in cycles))
        assert job.plan == Plan({"only": 2})
        job.mode = "active"
        wait_for(lambda: job.plan == Plan({"only": 8}))
        wait_for(lambda: job.report().mode is Mode.ACTIVE)
        with pytest.raises(InvalidValueError, match="mode 'activ' is not known; did you mean 'active'"):
            job.mode = "activ"
    assert [call for call, _ in slots.calls if call in ("start", "stop")] == ["start", "stop"]


class WithReaders(RecordedEngine):
    """Six readers hold slots beside the instances of operators."""

    def slots_needed(self, plan: Plan) -> int:
        return plan.total + 6


def test_the_report_counts_every_slot_that_a_plan_holds_and_not_only_its_instances(tmp_path: Path) -> None:
    cycles: list[Cycle] = []
    often = Steering(mode="off", interval="10 ms")
    reading = WithReaders(TOPOLOGY, RecordedSlots(most=None))
    with steer(reading, "job", Slo(), str(tmp_path), often, on_cycle=cycles.append) as job:
        wait_for(lambda: len(cycles) >= 3)
        report = job.report()
    assert report.unit == "slot"
    assert report.taken == pytest.approx(8 * report.seconds)
    assert report.seconds > 0


def test_a_plan_of_another_job_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(InvalidValueError, match="operator 'other' is not known"):
        first_plan(tmp_path / "new", Plan({"other": 3}))
    assert not (tmp_path / "new").exists()


def test_a_plan_beyond_the_bounds_of_an_operator_is_refused_before_slots_are_counted(tmp_path: Path) -> None:
    with pytest.raises(InvalidValueError) as refused:
        first_plan(tmp_path / "new", Plan({"only": 9}))
    text = "plan: operator only must have from 2 (its min) to 8 (its max) instances, not 9"
    assert str(refused.value) == text
    with pytest.raises(InvalidValueError, match="not 1"):
        first_plan(tmp_path / "new", Plan({"only": 1}))
    assert not (tmp_path / "new").exists()


def test_a_start_that_fails_closes_the_store(tmp_path: Path) -> None:
    class Closable(MemoryStore):
        closed = False

        def close(self) -> None:
            self.closed = True

    store = Closable()
    with pytest.raises(OSError, match="no cluster"):
        steer(engine(fails=True), "job", Slo(), str(tmp_path), Steering(store=store))
    assert store.closed


def test_an_engine_declares_the_ports_of_the_loop_and_has_no_plan_before_its_start() -> None:
    for port in (Monitor, Actuator, Clock):
        assert port in SparkEngine.__mro__
    with pytest.raises(Exception, match="the job has not been started"):
        engine().plan()
    with pytest.raises(TypeError, match="abstract"):
        SparkEngine(TOPOLOGY, cast("Any", None))  # type: ignore[abstract]


class ClaimedSlots(RecordedSlots):
    """Of an application whose executors one controller may change."""

    def claim(self, who: str) -> Claim:
        return claim(cast("Any", SimpleNamespace(applicationId="app-1")), who)


def test_a_job_that_changes_executors_has_them_for_itself_until_it_ends(tmp_path: Path) -> None:
    with steer(engine(ClaimedSlots()), "clicks", Slo(), str(tmp_path / "clicks"), OFF):
        with pytest.raises(ClaimedError, match=r"^job views cannot change the executors .* because job clicks does"):
            steer(engine(ClaimedSlots()), "views", Slo(), str(tmp_path / "views"), OFF)
        assert not (tmp_path / "views").exists()
        steer(engine(), "fixed", Slo(), str(tmp_path / "fixed"), OFF).stop()  # it changes none
    for fails in (True, False):
        views = engine(ClaimedSlots(), fails)
        try:
            steer(views, "views", Slo(), str(tmp_path / "views"), OFF).stop()
        except OSError:
            assert fails  # and leaves the executors to the next one
