"""Policies steer real jobs: every one of them can, and AuTraScale+ brings an overloaded job back under its target."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock import Slo
from penstock.control.loop import Loop, Settings
from penstock.guards import chain
from penstock.load.curves import constant
from penstock.model import Cycle, Plan, Reason, ReasonCode, Sample
from penstock.policies import POLICIES
from penstock.spark import Pipeline, files, kafka, replay
from penstock.spark.dry_run import dry_run
from penstock.spark.engine import SparkEngine
from penstock.spark.io.replayed import Replay
from penstock.spark.microbatch.engine import MicroBatchEngine
from penstock.spark.realtime.engine import RealTimeEngine
from penstock.stores.memory import MemoryStore
from penstock.testbed.broker import Broker
from penstock.testbed.feeder import Feeder
from spark_jobs import as_text, until, working

pytestmark = pytest.mark.spark

LOAD = replay(constant(300.0, 3_600.0), max_records_per_batch=300)
TOO_SMALL = Plan({"parse": 1, "work": 1})
TARGET = Slo(event_latency="5 s")


def two_operators(source: object, sink: object) -> Pipeline:
    """One instance of `work` carries 200 records a second at best; 300 come."""
    job = Pipeline("steered", source=source)  # type: ignore[arg-type]
    parse = job.operator("parse", as_text, max=4)
    job.operator("work", working(5), after=parse, max=4)
    job.sink(sink, after="work")  # type: ignore[arg-type]
    return job


def in_batches(spark: SparkSession, folder: Path, source: Replay = LOAD) -> MicroBatchEngine:
    job = two_operators(source, files(str(folder / "out"), "json"))
    return MicroBatchEngine(spark, job, dry_run(spark, job), str(folder / "checkpoint"), batch_seconds=1.0)


def in_real_time(spark: SparkSession, broker: Broker, folder: Path, topic: str) -> RealTimeEngine:
    for name in (topic, f"{topic}-out"):
        broker.create_topic(name, 1)
    job = two_operators(kafka(topic, servers=broker.servers), kafka(f"{topic}-out", servers=broker.servers))
    return RealTimeEngine(spark, job, dry_run(spark, job), str(folder), batch_seconds=1.0)


def loop_over(engine: MicroBatchEngine | RealTimeEngine, policy: str, seconds: float = 3.0) -> Loop:
    return Loop(
        topology=engine.topology, slo=TARGET, policy=POLICIES.create(policy), monitor=engine, actuator=engine,
        store=MemoryStore(), clock=engine, execution=engine.execution, settings=Settings(interval_seconds=seconds),
    )  # fmt: skip


def settle(engine: SparkEngine, loop: Loop, enough: Callable[[list[Sample]], bool]) -> list[Cycle]:
    """Decide whenever something was measured, until the measurements are as they should be."""
    cycles: list[Cycle] = []
    samples: list[Sample] = []

    def decide() -> bool:
        cycle = loop.run_once()
        if cycle.samples:
            cycles.append(cycle)
            samples.extend(sample for sample in cycle.samples if not sample.warm_up)
        return enough(samples)

    until(decide, "a job that keeps its target", engine)
    return cycles


def kept_its_target(samples: list[Sample]) -> bool:
    return len(samples) >= 3 and not any(TARGET.violations(sample) for sample in samples[-2:])


def tells_all(sample: Sample) -> bool:
    return all(operator.records_in and operator.useful_seconds for operator in sample.operators.values())


def test_autrascale_plus_rescues_a_job_in_micro_batches(spark: SparkSession, tmp_path: Path) -> None:
    # More than one instance carries, but little enough that what has come to wait meanwhile is soon worked off.
    engine = in_batches(spark, tmp_path, replay(constant(240.0, 3_600.0)))
    with running(engine):
        cycles = settle(engine, loop_over(engine, "autrascale_plus"), kept_its_target)
    assert engine.plan()["work"] > 1
    assert any(cycle.changed for cycle in cycles)


def test_autrascale_plus_rescues_a_job_in_real_time(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    engine = in_real_time(spark, broker, tmp_path, "rescued")
    with running(engine), Feeder(LOAD, "rescued", broker.servers):
        cycles = settle(engine, loop_over(engine, "autrascale_plus"), kept_its_target)
    assert engine.plan()["work"] > 1
    assert any(cycle.changed for cycle in cycles)  # perhaps before a record was too late


def test_every_policy_can_steer_micro_batches(spark: SparkSession, tmp_path: Path) -> None:
    engine = in_batches(spark, tmp_path)
    with running(engine):
        decided = every_policy_decides(engine)
        plans = list({plan for _, plan in decided.values()})
        assert failed(decided) == {}
        assert [applied(engine, plan) for plan in plans] == plans


def test_every_policy_can_steer_real_time(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    engine = in_real_time(spark, broker, tmp_path, "steered")
    enough = Plan({"parse": 1, "work": 3})  # a job that falls behind has windows without useful times
    with running(engine, enough), Feeder(LOAD, "steered", broker.servers):
        decided = every_policy_decides(engine)
        plans = list({plan for _, plan in decided.values()})
        assert failed(decided) == {}
        assert [applied(engine, plan) for plan in plans] == plans


@contextmanager
def running(engine: SparkEngine, plan: Plan = TOO_SMALL) -> Iterator[None]:
    """Whatever happens inside, the job is ended: its slots are for the next test."""
    engine.start(plan)
    try:
        yield
    finally:
        engine.stop()


def every_policy_decides(engine: MicroBatchEngine | RealTimeEngine) -> dict[str, tuple[Reason, Plan]]:
    """What each one wants, and why: all of them see the same windows of the same job."""
    seen: list[Sample] = []

    def measured() -> bool:
        seen.extend(sample for sample in engine.read() if not sample.warm_up and tells_all(sample))
        return len(seen) >= 8

    until(measured, "enough windows", engine)

    class Recorded:
        def read(self) -> list[Sample]:
            return seen

    class Held:
        def __init__(self) -> None:
            self.in_force = engine.plan()

        def plan(self) -> Plan:
            return self.in_force

        def apply(self, plan: Plan) -> None:
            self.in_force = plan

    decided = {}
    for name in POLICIES.names():
        loop = loop_over(engine, name)
        held = Held()
        loop.monitor, loop.actuator, loop.guards = Recorded(), held, chain()
        decided[name] = loop.run_once().decision.reason, held.in_force
    return decided


def failed(decided: dict[str, tuple[Reason, Plan]]) -> dict[str, str]:
    """The policies that did not come to a decision, and what they said."""
    failures = (ReasonCode.POLICY_FAILED, ReasonCode.MISSING_METRICS)
    return {name: reason.text for name, (reason, _) in decided.items() if reason.code in failures}


def applied(engine: SparkEngine, plan: Plan) -> Plan:
    """What is in force after that plan was put in force."""
    engine.apply(plan)
    return engine.plan()
