"""Operators that keep state in real time, through changes, a query that is killed, and a start from the checkpoint."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from patience import wait_for
from penstock.spark.io.kafka_topic import kafka
from penstock.spark.pipeline import Pipeline
from realtime_jobs import as_text, running

pytestmark = pytest.mark.spark

Until = Callable[[Callable[[], object]], None]
WORDS = [b"to", b"be", b"or", b"not", b"that", b"is"]


def counted(frame: DataFrame) -> DataFrame:
    """Every count that a word comes to: a later one stands for all before it."""
    counts = frame.groupBy("value").agg(F.count("*").alias("n"), F.max("stamp").alias("stamp"))
    return counts.select(F.concat_ws(" ", "value", "n").alias("value"), "stamp")


def once(frame: DataFrame) -> DataFrame:
    return frame.dropDuplicates(["value"])


def job(source: Any, sink: Any, keeps: Callable[[DataFrame], DataFrame]) -> Pipeline:
    made = Pipeline(source.name, source=kafka(source.name, servers=source.broker.servers))
    made.operator("text", as_text)
    made.operator("keep", keeps, after="text", key="value")
    made.sink(kafka(sink.name, servers=sink.broker.servers), after="keep")
    return made


def killed(spark: SparkSession) -> None:
    """Its tasks are killed as they run; it is restarted by itself."""
    before = str(spark.streams.active[0].runId)
    spark.sparkContext.cancelAllJobs()
    wait_for(lambda: any(str(query.runId) != before and query.isActive for query in spark.streams.active))


def test_every_word_is_counted_once_through_changes_kills_and_starts(
    spark: SparkSession, new_topic: Any, checkpoint: str, until: Until
) -> None:
    source, sink = new_topic(2), new_topic()
    sent: Counter[bytes] = Counter()

    def send() -> None:
        more = [word for number, word in enumerate(WORDS, 1) for _ in range(number)]
        source.send(*more)
        sent.update(more)

    def newest() -> dict[bytes, int]:
        found: dict[bytes, int] = {}
        for message in sink.read():
            word, number = message.split(b" ")
            found[word] = max(found.get(word, 0), int(number))
        return found

    with running(spark, job(source, sink, counted), checkpoint, change="handover", text=1, keep=1) as engine:
        send()
        until(lambda: newest() == sent)
        until(engine._segments[0].resumes_at)  # Spark goes on with state from its first commit on
        for change in ({"keep": 2}, {"text": 2, "keep": 1}):
            engine.apply(engine.plan().changed(change))
            assert engine.changes[-1].restarted == ("keep",)
            send()
            until(lambda: newest() == sent)
        killed(spark)
        send()
        until(lambda: newest() == sent)
        send()  # and it is stopped in the midst of this
    with running(spark, job(source, sink, counted), checkpoint, text=1, keep=2):
        send()
        until(lambda: newest() == sent)
        assert newest() == sent, "nothing is counted twice either"


def test_what_was_seen_before_a_change_or_a_kill_is_not_passed_again(
    spark: SparkSession, new_topic: Any, checkpoint: str, until: Until
) -> None:
    source, sink = new_topic(2), new_topic()
    with running(spark, job(source, sink, once), checkpoint, text=1, keep=1) as engine:
        source.send(*WORDS)
        until(lambda: set(sink.read()) == set(WORDS))
        until(lambda: engine._segments[0].resumes_at() == {source.name: len(WORDS)})  # they are not read again
        engine.apply(engine.plan().changed(keep=2))
        killed(spark)
        before = len(sink.read())
        source.send(*WORDS, b"new")
        until(lambda: b"new" in sink.read())
        source.send(*WORDS, b"newer")
        until(lambda: b"newer" in sink.read())
        assert sink.read()[before:] == [b"new", b"newer"]
