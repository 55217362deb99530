"""Where a job gets its first plan from, and what is left of a start that fails. The engine only writes down."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, cast

import pytest

from penstock import Slo
from penstock.control.assembly import Steering
from penstock.control.ports import Actuator, Clock, Monitor
from penstock.model import Actuation, Cycle, Decision, Execution, InvalidValueError, Mode, Plan, ReasonCode, Sample
from penstock.model.topology import Operator, Topology
from penstock.spark.engine import SparkEngine
from penstock.spark.job import steer
from penstock.stores import open_store
from penstock.stores.memory import MemoryStore

TOPOLOGY = Topology((Operator("only", min=2, max=8),))
OFF = Steering(mode="off", interval="1 h")


class Recorder(SparkEngine):
    execution: ClassVar[Execution] = Execution.SEQUENTIAL
    actuation: ClassVar[Actuation] = Actuation.LIVE

    def __init__(self, fails: bool = False) -> None:
        super().__init__(TOPOLOGY, cast("Any", None))
        self.fails = fails

    def start(self, plan: Plan) -> None:
        if self.fails:
            raise OSError("no cluster")
        self._plan = plan

    def stop(self) -> None: ...

    def wait(self, seconds: float | None = None) -> bool:
        return True

    def read(self) -> Sequence[Sample]:
        return []

    def apply(self, plan: Plan) -> None:
        raise AssertionError("the first plan is given to the start")


def remembered(checkpoint: Path, parallelism: int) -> None:
    """An earlier run left this plan."""
    checkpoint.mkdir()
    store = open_store(f"sqlite:///{checkpoint / 'penstock.db'}", "job")
    plan = Plan({"only": parallelism})
    decision = Decision.hold(plan, ReasonCode.STEADY, "steady", policy="ds2")
    store.record(Cycle(t=1.0, mode=Mode.ACTIVE, before=plan, decision=decision, samples=(), applied=True), "ds2")
    store.close()


def first_plan(checkpoint: Path, plan: Plan | None = None) -> Plan:
    with steer(Recorder(), "job", Slo(), str(checkpoint), OFF, plan) as job:
        return job.plan


def test_the_first_plan_is_the_given_one_else_that_of_the_store_else_the_smallest(tmp_path: Path) -> None:
    assert first_plan(tmp_path / "new") == Plan({"only": 2})
    remembered(tmp_path / "old", 5)
    assert first_plan(tmp_path / "old") == Plan({"only": 5})
    assert first_plan(tmp_path / "old", Plan({"only": 3})) == Plan({"only": 3})


def test_a_plan_of_another_job_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(InvalidValueError, match="operator 'other' is not known"):
        first_plan(tmp_path / "new", Plan({"other": 3}))
    assert not (tmp_path / "new").exists()


def test_a_start_that_fails_closes_the_store(tmp_path: Path) -> None:
    class Closable(MemoryStore):
        closed = False

        def close(self) -> None:
            self.closed = True

    store = Closable()
    with pytest.raises(OSError, match="no cluster"):
        steer(Recorder(fails=True), "job", Slo(), str(tmp_path), Steering(store=store))
    assert store.closed


def test_an_engine_declares_the_ports_of_the_loop_and_has_no_plan_before_its_start() -> None:
    for port in (Monitor, Actuator, Clock):
        assert port in SparkEngine.__mro__
    with pytest.raises(Exception, match="the job has not been started"):
        Recorder().plan()
    with pytest.raises(TypeError, match="abstract"):
        SparkEngine(TOPOLOGY, cast("Any", None))  # type: ignore[abstract]
