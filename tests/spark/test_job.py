"""A whole job, as a user starts it: whatever happens to the controller, records flow on under the last plan."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import pytest
from pyspark.sql import SparkSession

from penstock import Slo
from penstock.guards import only
from penstock.load.curves import constant
from penstock.model import Cycle, Decision, JobDescription, Observation, Plan, ReasonCode
from penstock.policies import Policy, State
from penstock.spark import Pipeline, files, replay
from penstock.spark.job import RunningJob
from spark_jobs import as_text, until

pytestmark = pytest.mark.spark

TROUBLE = {ReasonCode.POLICY_FAILED, ReasonCode.POLICY_TOO_SLOW}

TARGET = Slo(event_latency="5 s")


class Grows(Policy):
    """Adds an instance the first time it is asked, and comes to grief from then on."""

    name: ClassVar[str] = "grows"
    source: ClassVar[str] = "a test"

    def __init__(self) -> None:
        self.asked = 0
        self.free = threading.Event()

    def decide(self, observation: Observation) -> Decision:
        self.asked += 1
        if self.asked == 1:
            return Decision.move(observation.plan, observation.plan.changed(only=2), "more")
        return self.fail(observation)

    def fail(self, observation: Observation) -> Decision:
        raise ZeroDivisionError("no rate")


class Hangs(Grows):
    def fail(self, observation: Observation) -> Decision:
        self.free.wait()
        return Decision.hold(observation.plan, ReasonCode.STEADY, "free again")


class LostStore:
    """A store whose disk is gone."""

    def describe(self, description: JobDescription) -> None: ...

    def record(self, cycle: Cycle, policy: str, state: State | None = None) -> None:
        raise OSError("disk is gone")

    def recent(self, count: int) -> Sequence[Cycle]:
        return []

    def state(self, policy: str) -> State | None:
        return None

    def close(self) -> None: ...


@pytest.fixture
def cycles() -> list[Cycle]:
    return []


def started(spark: SparkSession, folder: Path, policy: Policy, cycles: list[Cycle]) -> RunningJob:
    job = Pipeline("static", source=replay(constant(50.0, 3_600.0)))
    job.operator("only", as_text, max=4)
    job.sink(files(str(folder / "out"), "json"), after="only")
    return job.start(
        spark, slo=TARGET, checkpoint=str(folder / "checkpoint"), policy=policy, guards=only(), store=LostStore(),
        interval="500 ms", batch="200 ms", on_cycle=cycles.append,
    )  # fmt: skip


def batches(folder: Path) -> int:
    return len(list((folder / "out").glob("batch=*/_SUCCESS")))


@pytest.mark.parametrize("policy", [Grows(), Hangs()], ids=["raises", "hangs"])
def test_the_job_runs_on_with_its_last_plan(
    policy: Grows, spark: SparkSession, tmp_path: Path, cycles: list[Cycle], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "penstock")
    with started(spark, tmp_path, policy, cycles) as job:
        job.controller.loop._deadline.seconds = 0.5  # nobody wants to wait ten seconds for a policy that hangs
        until(lambda: any(cycle.decision.reason.code in TROUBLE for cycle in cycles), "trouble", job)
        before = batches(tmp_path)
        until(lambda: batches(tmp_path) >= before + 3, "batches after the trouble", job)
        assert job.plan == Plan({"only": 2})
        policy.free.set()
    assert caplog.text.count("the store is lost, the loop goes on without it") == 1


def test_a_job_in_monitor_mode_decides_and_never_acts(
    spark: SparkSession, tmp_path: Path, cycles: list[Cycle]
) -> None:  # fmt: skip
    job = Pipeline("watched", source=replay(constant(50.0, 3_600.0)))
    job.operator("only", as_text, max=4)
    job.sink(files(str(tmp_path / "out"), "json"), after="only")
    policy = Grows()
    with job.start(
        spark, slo=TARGET, checkpoint=str(tmp_path / "checkpoint"), policy=policy, mode="monitor", guards=only(),
        interval="500 ms", batch="200 ms", on_cycle=cycles.append,
    ) as running:  # fmt: skip
        until(lambda: any(cycle.decision.plan["only"] == 2 for cycle in cycles), "a decision", running)
        assert running.plan == Plan({"only": 1})
    assert not any(cycle.applied for cycle in cycles)
