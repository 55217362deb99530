"""A stateful query under a controller, as a user starts it: one call, and its state moves while data flows."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import ClassVar

import pytest
from pyspark.sql import SparkSession

from nexmark_stream import TARGET, Stream
from patience import wait_for
from penstock.guards import only
from penstock.model import Cycle, Decision, InvalidValueError, Observation, Plan, ReasonCode
from penstock.policies import Policy
from penstock.spark import NativeQuery
from penstock.spark.job import RunningJob
from penstock.spark.native.engine import STATE, NativeEngine

pytestmark = pytest.mark.spark


class Script(Policy):
    """Asks for these partitions one after the other, and comes to grief from then on."""

    name: ClassVar[str] = "script"
    source: ClassVar[str] = "a test"

    def __init__(self, *partitions: int) -> None:
        self._wanted = list(partitions)

    def decide(self, observation: Observation) -> Decision:
        if not self._wanted:
            raise ZeroDivisionError("no rate")
        target = observation.plan.changed(**{STATE: self._wanted.pop(0)})
        return Decision.move(observation.plan, target, "as it is written")


def wants_data(job: RunningJob) -> bool:
    assert isinstance(job.engine, NativeEngine)
    return not job.engine.query.status["isDataAvailable"]


def test_the_controller_rescales_a_query_while_data_flows_and_the_query_outlives_it(
    spark: SparkSession, tmp_path: Path
) -> None:
    stream = Stream("nexmark_q11", tmp_path)
    stream.arrive(0, 1)
    arrived = 1
    cycles: list[Cycle] = []

    def failed_while_data_flows() -> bool:
        nonlocal arrived
        if wants_data(job):
            stream.arrive(arrived, arrived + 1)
            arrived += 1
        return any(cycle.decision.reason.code is ReasonCode.POLICY_FAILED for cycle in cycles)

    query = NativeQuery("sessions", stream.build)
    with query.start(
        spark, slo=TARGET, checkpoint=stream.checkpoint, policy=Script(3, 1, 4), guards=only(),
        interval="500 ms", on_cycle=cycles.append,
    ) as job:  # fmt: skip
        waiting = threading.Thread(target=job.wait)
        waiting.start()
        assert job.plan == Plan({STATE: 1})
        wait_for(failed_while_data_flows, every=0.5)
        assert waiting.is_alive(), "a change must not look like the end"
        assert job.plan == Plan({STATE: 4})

        stream.arrive(arrived, arrived + 2)
        stream.close(arrived + 2)
        answer = stream.batch_answer(spark)
        wait_for(lambda: stream.results(spark) == answer, every=0.5)
    waiting.join()

    assert answer
    changes = [cycle for cycle in cycles if cycle.applied and cycle.decision.plan != cycle.before]
    assert [cycle.decision.plan[STATE] for cycle in changes] == [3, 1, 4]
    with query.start(spark, slo=TARGET, checkpoint=stream.checkpoint, mode="off") as job:
        assert job.plan == Plan({STATE: 4}), "checkpoint and store remember"


def test_a_mistake_is_reported_before_anything_starts(spark: SparkSession, tmp_path: Path) -> None:
    stream = Stream("nexmark_q11", tmp_path)
    query = NativeQuery("sessions", stream.build, min=2, max=4)
    with pytest.raises(InvalidValueError, match=r"^checkpoint must name a folder"):
        query.start(spark, slo=TARGET, checkpoint="")
    with pytest.raises(InvalidValueError, match=r"^plan: operator 'count' is not known"):
        query.start(spark, slo=TARGET, checkpoint=stream.checkpoint, plan=Plan({"count": 2}))
    with pytest.raises(InvalidValueError, match=r"^policy 'ds3' is not known"):
        query.start(spark, slo=TARGET, checkpoint=stream.checkpoint, policy="ds3")
    with pytest.raises(InvalidValueError, match=r"^build must make a query"):
        NativeQuery("sessions", build=None)  # type: ignore[arg-type]
    assert not spark.streams.active
