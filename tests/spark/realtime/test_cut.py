"""Which records of Kafka a query passes, before and after it was told a cut."""

from __future__ import annotations

import pytest
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from penstock.spark.realtime.cut import Cut, forget, from_offsets, tell

pytestmark = pytest.mark.spark


def passed(spark: SparkSession, condition: Column) -> dict[str, int]:
    """How many of the first hundred records of each partition pass."""
    records = spark.range(100).select(
        F.explode(F.array(F.lit("clicks"), F.lit("views"))).alias("topic"),
        (F.col("id") % 2).cast("int").alias("partition"),
        F.floor(F.col("id") / 2).alias("offset"),
    )
    rows = records.where(condition).groupBy("topic", "partition").count().collect()
    return {f"{row['topic']}-{row['partition']}": row["count"] for row in rows}


EVERYTHING = {"clicks-0": 50, "clicks-1": 50, "views-0": 50, "views-1": 50}


def test_a_query_that_was_told_nothing_passes_everything(spark: SparkSession) -> None:
    assert passed(spark, Cut(spark).passes()) == EVERYTHING


def test_a_cut_is_that_of_one_run_and_of_the_partitions_that_it_names(spark: SparkSession) -> None:
    cut, other = Cut(spark), Cut(spark)
    told, condition = cut.properties({"clicks": {"0": 20, "1": 7}}), cut.passes()
    assert passed(spark, condition) == EVERYTHING
    assert tell(spark, told, free=lambda: 1) == 0
    assert passed(spark, condition) == {**EVERYTHING, "clicks-0": 20, "clicks-1": 7}
    assert passed(spark, other.passes()) == EVERYTHING
    forget(spark, told)
    assert passed(spark, condition) == EVERYTHING


def test_a_new_query_passes_what_lies_at_its_first_offsets_or_beyond(spark: SparkSession) -> None:
    found = passed(spark, from_offsets({"clicks": {"0": 20}, "views": {"1": 49}}))
    assert found == {**EVERYTHING, "clicks-0": 30, "views-1": 1}


def test_what_is_put_into_a_query_stays_inside_the_generated_code(spark: SparkSession) -> None:
    frame = spark.range(3).select(F.lit("in").alias("topic"), F.lit(0).alias("partition"), F.col("id").alias("offset"))
    planned = frame.where(Cut(spark).passes())._jdf.queryExecution().executedPlan().toString()
    [line] = [line for line in planned.splitlines() if "Filter" in line]
    assert "*(1)" in line
