"""Shuffles inside operators take slots too: what is counted is what Spark itself asks for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from patience import wait_for
from penstock.model import Plan
from penstock.spark.dry_run import dry_run
from penstock.spark.executors.slots import FixedSlots, NotEnoughSlotsError
from penstock.spark.failure import JobFailedError
from penstock.spark.io.kafka_topic import kafka
from penstock.spark.pipeline import Pipeline
from penstock.spark.realtime import repair
from penstock.spark.realtime.engine import RealTimeEngine
from penstock.spark.realtime.shuffles import inner_shuffles
from penstock.spark.settings import PARTITIONS

PLAN = Plan({"split": 4, "count": 3})
READERS = 2


class Promised(FixedSlots):
    """More slots than there are."""

    def slots(self) -> int:
        return 1_000


def words(frame: DataFrame) -> DataFrame:
    return frame.select(F.explode(F.split(F.col("value").cast("string"), " ")).alias("word"), "stamp")


def count(frame: DataFrame) -> DataFrame:
    return frame.groupBy("word").agg(F.count("*").alias("n"), F.max("stamp").alias("stamp"))


def job(source: Any, sink: Any) -> Pipeline:
    made = Pipeline(source.name, source=kafka(source.name, servers=source.broker.servers))
    made.operator("split", words)
    made.operator("count", count, after="split", key="word")
    made.sink(kafka(sink.name, servers=sink.broker.servers), after="count")
    return made


@pytest.fixture
def partitions(spark: SparkSession) -> Iterator[int]:
    """More than there are slots."""
    before = spark.conf.get(PARTITIONS)
    spark.conf.set(PARTITIONS, "40")
    yield 40
    spark.conf.set(PARTITIONS, str(before))


@pytest.mark.spark
def test_a_shuffle_that_has_more_partitions_than_there_are_slots_is_refused_at_the_start(
    spark: SparkSession, new_topic: Any, checkpoint: str, partitions: int
) -> None:
    made = job(new_topic(READERS), new_topic())
    engine = RealTimeEngine(spark, made, dry_run(spark, made), checkpoint)
    with pytest.raises(NotEnoughSlotsError) as refused:
        engine.start(PLAN)
    assert str(refused.value) == (
        "the plan needs 49 slots, but only 16 are available: operator count shuffles inside, into 40 partitions with a "
        "slot each; spark.sql.shuffle.partitions says how many"
    )
    assert not spark.streams.active


@pytest.mark.spark
def test_a_job_that_cannot_run_is_given_up_and_spark_asks_for_the_slots_that_were_counted(
    spark: SparkSession, new_topic: Any, checkpoint: str, partitions: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repair, "SLOTS_SECONDS", 3.0)  # nobody wants to wait for half an hour
    source = new_topic(READERS)
    source.send(b"to be or not to be")
    made = job(source, new_topic())
    engine = RealTimeEngine(spark, made, dry_run(spark, made), checkpoint, batch_seconds=1, slots=Promised(spark))
    engine.start(PLAN)
    needed = engine.slots_needed(PLAN)
    said = rf"waited .* for slots: .*Spark says: .*needs {needed} concurrent task slots"
    with pytest.raises(JobFailedError, match=said):
        wait_for(lambda: engine.wait(0.1))


@pytest.mark.spark
def test_a_checkpoint_keeps_its_partitions_whatever_the_session_says(
    spark: SparkSession, new_topic: Any, checkpoint: str
) -> None:
    source, sink = new_topic(READERS), new_topic()
    made = job(source, sink)
    first = RealTimeEngine(spark, made, dry_run(spark, made), checkpoint, batch_seconds=1)
    source.send(b"to be")
    first.start(PLAN)
    wait_for(lambda: first._segments[0].last_batch >= 1)
    first.stop()
    needed = READERS + PLAN.total + int(spark.conf.get(PARTITIONS) or 0)
    assert first.slots_needed(PLAN) == needed
    spark.conf.set(PARTITIONS, "40")
    try:
        second = RealTimeEngine(spark, made, dry_run(spark, made), checkpoint, batch_seconds=1)
        source.send(b"or not")
        second.start(PLAN)
        wait_for(lambda: len(sink.read()) >= 4)
        assert second.wait(0.001) is False
        assert second.slots_needed(PLAN) == needed
        second.stop()
    finally:
        spark.conf.set(PARTITIONS, str(needed - READERS - PLAN.total))


EXPLAINED = """
== Physical Plan ==
WriteToDataSourceV2
+- Exchange SinglePartition, ENSURE_REQUIREMENTS, [plan_id=9]
   +- *(4) HashAggregate(keys=[word#1, n#2], functions=[])
      +- Exchange hashpartitioning(word#1, n#2, 12), ENSURE_REQUIREMENTS, [plan_id=8]
         +- Exchange hashpartitioning(word#1, 102), REPARTITION_BY_NUM, [plan_id=7]
            +- Exchange RoundRobinPartitioning(101), REPARTITION_BY_NUM, [plan_id=6]
               +- Exchange rangepartitioning(n#2 ASC NULLS FIRST, 5), REPARTITION_BY_COL, [plan_id=5]
                  +- Exchange RoundRobinPartitioning(100), REPARTITION_BY_NUM, [plan_id=4]
                     +- BroadcastExchange HashedRelationBroadcastMode(List(input[0])), [plan_id=3]
"""


def test_every_kind_of_shuffle_belongs_to_the_operator_behind_whose_own_it_stands() -> None:
    assert inner_shuffles(EXPLAINED, {"a": 100, "b": 101, "c": 102}) == {"c": 13, "a": 5}
