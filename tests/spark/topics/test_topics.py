from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import SparkSession

from penstock.model import InvalidValueError
from penstock.spark.io.kafka_topic import kafka
from penstock.spark.realtime.wire import packed, unpacked

pytestmark = pytest.mark.spark


def test_a_value_is_written_as_it_is_and_other_columns_as_json_without_the_stamp(
    spark: SparkSession, new_topic: Any
) -> None:
    topic = new_topic()
    sink = kafka(topic.name, servers=topic.broker.servers)
    sink.write(spark.sql("select 'a' as key, 'plain' as value, 7 as other"), 0)
    sink.write(spark.sql("select 3 as clicks, 'x' as page, struct(1 as created) as stamp"), 1)
    while len(topic.read()) < 2:
        pass
    assert topic.seen[0] == b"plain"
    assert json.loads(topic.seen[1]) == {"clicks": 3, "page": "x"}


def test_the_backlog_is_what_a_query_has_not_read(new_topic: Any) -> None:
    topic = new_topic(2)
    topic.send(*(b"%d" % i for i in range(10)))
    source = kafka(topic.name, servers=topic.broker.servers)
    assert source.backlog({topic.name: {"0": 3, "1": 1}}, 0.0) == 6
    assert kafka("clicks", servers="127.0.0.1:1").backlog({}, 0.0) is None


def test_a_topic_must_have_a_name() -> None:
    with pytest.raises(InvalidValueError, match="kafka: topic must be named once"):
        kafka("", servers="here:9092")


def test_rows_travel_between_segments_without_loss(spark: SparkSession) -> None:
    rows = spark.createDataFrame(
        [
            (
                1 << 62, 0.1 + 0.2, float("inf"), "a \"b\" ü", bytes(range(256)), Decimal("1.10"), date(2024, 2, 29),
                datetime(2024, 2, 29, 1, 2, 3, 456789, UTC), [1, None], {"k": 1.5}, None, True,
            )
        ],
        "a long, b double, c double, `d.e` string, f binary, g decimal(10,2), h date, i timestamp, j array<int>, "
        "k map<string,double>, l string, m boolean",
    )  # fmt: skip
    messages = rows.select(packed(rows).alias("value"))
    assert unpacked(messages, rows.schema).collect() == rows.collect()
