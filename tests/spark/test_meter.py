from __future__ import annotations

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from penstock.model import Latency
from penstock.spark.realtime.meter import JOURNEY, arrived, latency, metered, taken_now

pytestmark = pytest.mark.spark


def test_an_operators_filter_stays_behind_its_shuffle_with_and_without_a_stamp(spark: SparkSession) -> None:
    plain = spark.createDataFrame([(1,)], "id long").withColumn("created", F.lit("2024-02-29"))
    for frame in (plain, taken_now(plain, "created")):
        nodes = optimised(arrived(frame.repartition(3), 16).where("id > 5"))
        assert nodes.index("Filter (isnotnull(id") < nodes.index("Repartition 3")


def test_a_stamp_tells_when_a_record_was_taken(spark: SparkSession) -> None:
    made = spark.createDataFrame([("2024-02-29 01:02:03.456789",)], "created string")
    row = taken_now(made, "created").selectExpr("stamp.*", "current_timestamp() as now").first()
    assert row is not None
    assert str(row.created).endswith("03.456789")
    assert row.taken.year == row.now.year


def test_what_was_not_measured_is_none() -> None:
    assert metered({}, "count").seconds_per_record is None
    assert latency({}, "event") is None
    assert latency({JOURNEY: {"event_mean": None, "event_percentiles": None}}, "event") is None
    told = {JOURNEY: {"event_mean": 12.5, "event_percentiles": [10, 30, -1]}}
    assert latency(told, "event") == Latency(12.5, 10.0, 30.0, 0.0)


def optimised(frame: DataFrame) -> str:
    text: str = frame._jdf.queryExecution().optimizedPlan().toString()
    return text
