"""What cannot run in real time is said before anything starts."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from penstock.model import InvalidValueError
from penstock.spark.dry_run import dry_run
from penstock.spark.io.kafka_topic import SCHEMA, kafka
from penstock.spark.pipeline import Pipeline
from penstock.spark.realtime.wiring import wire

pytestmark = pytest.mark.spark

CLICKS = kafka("clicks", servers="here:9092")
COUNTS = kafka("counts", servers="here:9092")


def same(frame: DataFrame) -> DataFrame:
    return frame


def in_python(frame: DataFrame) -> DataFrame:
    def rows(parts: Iterator[Any]) -> Iterator[Any]:
        yield from parts

    return frame.mapInPandas(rows, frame.schema)


def pipeline(source: Any = CLICKS, function: Any = same, sink: Any = COUNTS) -> Pipeline:
    job = Pipeline("job", source=source)
    job.operator("parse", function)
    job.sink(sink, after="parse")
    return job


class Elsewhere:
    """Some sink that is no topic."""

    reads_again = False

    def write(self, frame: DataFrame, batch: int) -> None: ...


class Files:
    """Some source that is no topic."""

    created = "timestamp"
    schema = SCHEMA

    def stream(self, spark: SparkSession) -> DataFrame:
        raise NotImplementedError

    def backlog(self, offset: Any, now: float) -> float | None:
        return None


@pytest.mark.parametrize(
    ("job", "checkpoint", "said"),
    [
        (pipeline(), "", "checkpoint must name a folder"),
        (pipeline(source=Files()), "there", "source must be kafka(...) in real time, not Files"),
        (pipeline(sink=Elsewhere()), "there", "sink after parse must be kafka(...) in real time, not Elsewhere"),
        (pipeline(sink=kafka("counts", servers="there:9092")), "there", "must be on the brokers of the source"),
        (pipeline(function=in_python), "there", "operator parse needs Python workers (MapInPandas)"),
    ],
)
def test_what_cannot_run_is_refused_in_one_sentence(
    spark: SparkSession, job: Pipeline, checkpoint: str, said: str
) -> None:
    with pytest.raises(InvalidValueError) as refused:
        wire(job, dry_run(spark, job), checkpoint)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_segments_are_joined_by_topics_and_latency_is_measured_at_the_end(spark: SparkSession) -> None:
    job = Pipeline("my job", source=CLICKS)
    job.operator("read", same)
    job.operator("left", same, after="read")
    job.operator("right", same, after="read")
    job.operator("join", same, after=["left", "right"])
    job.sink(COUNTS, after="join")
    read, left, right, join = wire(job, dry_run(spark, job), "there")
    assert read.reads == ("clicks",)
    assert left.reads == right.reads == read.writes
    assert join.reads == (*left.writes, *right.writes)
    assert join.writes == ("counts",)
    assert [wiring.latency_at for wiring in (read, left, right, join)] == [None, None, None, "join"]
    assert len({wiring.place.folder for wiring in (read, left, right, join)}) == 4
    assert all(topic.startswith("penstock-my_job-") for topic in join.reads)


def test_an_operator_that_drops_the_stamp_is_named(spark: SparkSession, caplog: pytest.LogCaptureFixture) -> None:
    job = Pipeline("job", source=CLICKS)
    job.operator("parse", same)
    job.operator("count", lambda frame: frame.select(F.length("value").alias("length")), after="parse")
    job.sink(COUNTS, after="count")
    with caplog.at_level(logging.WARNING, "penstock"):
        [wiring] = wire(job, dry_run(spark, job), "there")
    assert wiring.latency_at == "parse"
    assert [record.getMessage() for record in caplog.records] == [
        "operator count drops the column `stamp`: latency is measured before it"
    ]


def test_only_what_may_lose_records_or_wait_is_metered(spark: SparkSession) -> None:
    job = Pipeline("job", source=CLICKS)
    job.operator("parse", lambda frame: frame.withColumn("text", F.col("value").cast("string")))
    job.operator("some", lambda frame: frame.where("length(text) > 3"), after="parse")
    job.sink(COUNTS, after="some")
    [wiring] = wire(job, dry_run(spark, job), "there")
    assert wiring.metered == ("some",)


SHUFFLES: dict[str, Any] = {
    "by itself": lambda frame: frame.repartition("value"),
    "for its state": lambda frame: frame.groupBy("value").agg(F.max("stamp").alias("stamp")),
}


@pytest.mark.parametrize("how", SHUFFLES)
def test_all_are_metered_where_nobody_can_tell_whose_stage_is_whose(spark: SparkSession, how: str) -> None:
    job = Pipeline("job", source=CLICKS)
    job.operator("parse", same)
    job.operator("more", SHUFFLES[how], after="parse", key="value")
    job.sink(COUNTS, after="more")
    [wiring] = wire(job, dry_run(spark, job), "there")
    assert wiring.metered == ("parse", "more")
