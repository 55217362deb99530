"""PSPS' grouping on Spark: the shares that Algorithm 1 comes to, and records that really go where they say."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812

from penstock.model import Cycle, Plan
from penstock.papers.psps.spark import table7
from penstock.papers.psps.spark.grouping import ReplicaGrouping, column_of
from penstock.papers.psps.spark.hashed import murmur3
from spark_trials import cycle, window

ET, TD = {"parse": 10.0}, 6.0


def decided(before: int, after: int, done: float, expected: float) -> Cycle:
    trial = table7.trial(table7.OWN)
    old, new = trial.start.changed(parse=before), trial.start.changed(parse=after)
    made = cycle(old, new, window(0.0, trial, tuple(old.parallelism.values()), done / 2.0))
    return replace(made, decision=replace(made.decision, figures={"to_process": {"parse": expected}}))


def test_a_replica_that_joins_gets_every_event_until_it_has_had_as_many_as_the_others() -> None:
    grouping = ReplicaGrouping(ET, TD)
    grouping.begin(Plan({"parse": 2}))
    grouping.on_cycle(decided(2, 3, done=200, expected=300))
    assert grouping.shares("parse") == pytest.approx((67 / 300, 67 / 300, 166 / 300), abs=0.005)
    grouping.on_cycle(decided(3, 3, done=300, expected=300))
    assert grouping.shares("parse") == pytest.approx((133 / 300, 133 / 300, 34 / 300), abs=0.005)


def test_one_that_leaves_takes_its_share_with_it() -> None:
    grouping = ReplicaGrouping(ET, TD)
    grouping.begin(Plan({"parse": 3}))
    grouping.on_cycle(decided(3, 2, done=300, expected=200))
    assert grouping.shares("parse") == pytest.approx((0.5, 0.5))


def test_before_anything_is_known_there_is_one_replica() -> None:
    assert ReplicaGrouping(ET, TD).shares("parse") == (1.0,)


@pytest.mark.spark
def test_records_go_to_the_replicas_in_the_shares_that_they_have(spark: SparkSession) -> None:
    grouping = ReplicaGrouping(ET, TD)
    grouping.begin(Plan({"parse": 2}))
    grouping.on_cycle(decided(2, 3, done=200, expected=300))
    numbers = spark.range(3_000).withColumn(column_of("parse"), grouping.replica("parse", F.col("id")))
    sent = numbers.repartition(3, column_of("parse")).withColumn("partition", F.spark_partition_id())
    found = {row["partition"]: row["count"] for row in sent.groupBy("partition").count().collect()}
    assert [found[place] / 3_000 for place in range(3)] == pytest.approx(grouping.shares("parse"), abs=0.03)


@pytest.mark.spark
def test_numbers_are_hashed_as_spark_does(spark: SparkSession) -> None:
    numbers = [0, 1, 77, 2**31, 2**40 + 5, -3]
    hashed = spark.createDataFrame([(number,) for number in numbers], "number bigint").select(F.hash("number"))
    assert [row[0] for row in hashed.collect()] == [murmur3(number) for number in numbers]
