"""Classes of the JVM are looked up once."""

from __future__ import annotations

from typing import Any

import pytest
from py4j.clientserver import JavaClient
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from penstock.spark.microbatch.call_sites import without_call_sites
from penstock.spark.microbatch.known_classes import keep_classes

pytestmark = pytest.mark.spark


def hashed() -> Column:
    return F.crc32(F.sha2(F.col("text"), 256)) % 1000


def test_the_second_column_of_a_kind_asks_the_jvm_for_no_class(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[str] = []
    send = JavaClient.send_command

    def noted(self: Any, command: str, *others: Any, **named: Any) -> Any:
        sent.append(command)
        return send(self, command, *others, **named)

    keep_classes(spark.sparkContext._jvm)
    with without_call_sites():
        hashed()
        monkeypatch.setattr(JavaClient, "send_command", noted)
        again = hashed()
    monkeypatch.undo()
    # What is left are the calls that are meant. "m" stands in front of what Python has no use for any more.
    asked = [command for command in sent if not command.startswith("m")]
    assert [command.split("\n")[2] for command in asked] == ["col", "sha2", "crc32", "mod"]
    assert spark.range(1).select(F.lit("a").alias("text")).select(again).first() is not None


def test_a_name_that_a_class_does_not_have_is_refused_each_time(spark: SparkSession) -> None:
    jvm: Any = spark.sparkContext._jvm
    keep_classes(jvm)
    keep_classes(jvm)
    for _ in range(2):
        with pytest.raises(Exception, match="no_such_function does not exist in the JVM"):
            jvm.functions.no_such_function  # noqa: B018
