"""The operators of WordCount, AUTOSCALE's line and PSPS' Twitter application do the job that their names say."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from penstock.cli.workloads import spark_workload as job
from penstock.papers.autrascale.spark.wordcount import lines
from penstock.papers.psps.spark.twitter import texts
from penstock.runs.spark_workload import SparkWorkload
from penstock.spark.measure.stamp import CREATED, STAMP, TAKEN

pytestmark = pytest.mark.spark

NOWHERE: Any = None


def passed_through(spark: SparkSession, one: SparkWorkload, records: int) -> list[Row]:
    """What comes out of all operators, one after the other, for the first records."""
    values = [(bytearray(value),) for value in one.values(np.arange(records))]
    now = F.current_timestamp()
    frame: DataFrame = spark.createDataFrame(values, "value binary").withColumn(
        STAMP, F.struct(now.alias(CREATED), now.alias(TAKEN))
    )
    pipeline = one.pipeline(NOWHERE, NOWHERE)
    for name in pipeline.topology().order:
        frame = pipeline.steps[name].function(frame)
    assert STAMP in frame.columns
    return frame.drop(STAMP).collect()


def test_increments_add_up_to_the_words_that_were_sent(spark: SparkSession) -> None:
    found: Counter[str] = Counter()
    for row in passed_through(spark, job("wordcount"), 60):
        found[row["word"]] += row["increment"]
    assert found == Counter(line.decode().lower() for line in lines(np.arange(60)))


def test_every_item_is_delivered(spark: SparkSession) -> None:
    rows = passed_through(spark, job("linear"), 20)
    assert {row["delivered"] for row in rows} == {f"ITEM {n}" for n in range(20)}


def test_tweets_are_classified_by_their_words_and_their_authors(spark: SparkSession) -> None:
    rows = {row["number"]: row for row in passed_through(spark, job("twitter"), 200)}
    assert len(rows) == 200
    for text in texts(np.arange(200)):
        number, author, followers, words = text.decode().split(",")
        row = rows[int(number)]
        feelings = [(word in ("love", "sun")) - (word in ("hate", "rain")) for word in words.split()]
        assert (row["author"], row["known"]) == (author, int(followers) > 10_000)
        assert row["mood"] == np.sign(sum(feelings))
