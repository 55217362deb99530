"""Operators that share their instances in real time, with a real Spark and a real Kafka."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812

from kafka_load import Load, delivered
from penstock.model import Execution, Plan, Sample, Slo
from penstock.spark.dry_run import dry_run
from penstock.spark.io.kafka_topic import kafka
from penstock.spark.measure.stages import StageReader
from penstock.spark.pipeline import Pipeline
from penstock.spark.realtime.engine import RealTimeEngine
from realtime_jobs import as_text, line, marked, running

pytestmark = pytest.mark.spark

Until = Callable[[Callable[[], object]], None]

READERS = 2
PLANS = {
    "fused, where the topic is read": ((2, 2, 2), [2]),
    "parted": ((1, 2, 3), [2, 1, 2, 3]),
    "mixed, with the first where the topic is read": ((2, 2, 3), [2, 3]),
    "mixed, with the last two together": ((3, 1, 1), [2, 3, 1]),
    "fused, apart from the readers": ((3, 3, 3), [2, 3]),
}


@pytest.mark.parametrize("change", ["restart", "handover"])
def test_chains_form_and_part_while_records_flow_and_spark_runs_as_many_tasks_as_were_counted(
    spark: SparkSession, new_topic: Any, checkpoint: str, until: Until, change: str
) -> None:
    source, sink = new_topic(READERS), new_topic()
    job = line(source, sink, one=0, two=0, three=0)
    with running(spark, job, checkpoint, batch_seconds=0.5, change=change, one=2, two=2, three=2) as engine:
        load = Load(source.broker.servers, source.name, READERS, rate=400)
        for parallelism, tasks in PLANS.values():
            plan = Plan(dict(zip(job.steps, parallelism, strict=True)))
            engine.apply(plan)
            until_a_batch_ended_under(plan, engine, until)
            assert tasks_of_a_batch(spark, engine) == tasks
            assert engine.slots_needed(plan) == Execution.CONCURRENT.slots(plan, engine.topology) == sum(tasks)
        load.stop()
        came = Counter(delivered(source.broker.servers, sink.name, load.sent))
        assert came.keys() == set(range(load.sent))
        until(lambda: any(sample.throughput == 0 and sample.backlog == 0 for sample in engine.read()))
        assert came.total() - len(came) <= engine.duplicates


def until_a_batch_ended_under(plan: Plan, engine: RealTimeEngine, until: Until) -> None:
    [segment] = engine._segments
    until(lambda: segment.runs(plan) and segment.queries[0].last_batch >= 0)


def tasks_of_a_batch(spark: SparkSession, engine: RealTimeEngine) -> list[int]:
    """How many tasks each stage had of the batch that ended last."""
    query = engine._segments[0].queries[0]
    assert query._query is not None
    number = query.last_batch
    return [
        stage.tasks for stage in StageReader(spark.sparkContext).of_batches(query._query.runId, number, number)[number]
    ]


def test_plain_operators_of_a_chain_are_told_apart(
    spark: SparkSession, new_topic: Any, checkpoint: str, until: Until
) -> None:
    source, sink = new_topic(), new_topic()
    job = Pipeline(source.name, source=kafka(source.name, servers=source.broker.servers))
    much = F.expr("aggregate(sequence(1, 20000), 0L, (a, x) -> a + x * length(value))")
    job.operator("text", as_text)
    job.operator("costly", lambda frame: frame.withColumn("sum", much), after="text")
    job.operator("cheap", lambda frame: frame.withColumn("more", F.col("sum") + 1), after="costly")
    job.sink(kafka(sink.name, servers=sink.broker.servers), after="cheap")
    with running(spark, job, checkpoint, text=1, costly=1, cheap=1) as engine:
        assert engine.slots_needed(engine.plan()) == 1
        samples: list[Sample] = []

        def is_measured() -> bool:
            source.send(*(b"%d" % i for i in range(20)))
            samples.extend(s for s in engine.read() if not s.warm_up and s.operators["cheap"].records_in)
            return len(samples) >= 2

        until(is_measured)
        seconds = {name: each.useful_seconds or 0.0 for name, each in samples[-1].operators.items()}
        assert 0 < seconds["cheap"] < seconds["costly"] / 2
        assert 0 < seconds["text"] < seconds["costly"] / 2
        assert samples[-1].processing_latency_ms is not None


def test_without_chaining_each_operator_has_instances_of_its_own(
    spark: SparkSession, new_topic: Any, checkpoint: str, until: Until
) -> None:
    source, sink = new_topic(READERS), new_topic()
    job = line(source, sink, one=0, two=0)
    engine = RealTimeEngine(spark, job, dry_run(spark, job), checkpoint, batch_seconds=0.5, chaining=False)
    engine.start(Plan({"one": 2, "two": 2}))
    try:
        source.send(b"x")
        until(lambda: sink.read() == [b"x"] and engine._segments[0].last_batch >= 0)
        assert tasks_of_a_batch(spark, engine) == [2, 2, 2]
        assert engine.slots_needed(engine.plan()) == 6
    finally:
        engine.stop()


CHOICES = [({}, 1), ({"policy": "ds2"}, 3), ({"policy": "ds2", "chaining": True}, 1), ({"chaining": False}, 3)]


@pytest.mark.parametrize(("options", "slots"), CHOICES)
def test_operators_share_their_instances_under_a_policy_that_knows_it_unless_a_user_says_otherwise(
    spark: SparkSession, new_topic: Any, checkpoint: str, options: dict[str, Any], slots: int
) -> None:
    source, sink = new_topic(), new_topic()
    job = line(source, sink, one=0, two=0)
    with job.start(spark, slo=Slo(), checkpoint=checkpoint, engine="realtime", mode="off", **options) as running:
        assert running.engine.slots_needed(Plan({"one": 1, "two": 1})) == slots
        assert running.topology.may_chain is (slots == 1)


def test_an_operator_that_does_not_share_has_instances_of_its_own(
    spark: SparkSession, new_topic: Any, checkpoint: str, until: Until
) -> None:
    source, sink = new_topic(), new_topic()
    job = Pipeline(source.name, source=kafka(source.name, servers=source.broker.servers))
    job.operator("one", as_text)
    job.operator("two", marked("2"), after="one", chain=False)
    job.operator("three", marked("3"), after="two")
    job.operator("four", marked("4"), after="three")
    job.sink(kafka(sink.name, servers=sink.broker.servers), after="four")
    with running(spark, job, checkpoint, batch_seconds=0.5, one=1, two=1, three=1, four=1) as engine:
        source.send(b"x")
        until(lambda: sink.read() == [b"x234"] and engine._segments[0].last_batch >= 0)
        assert tasks_of_a_batch(spark, engine) == [1, 1, 1]
        assert engine.slots_needed(engine.plan()) == 3
