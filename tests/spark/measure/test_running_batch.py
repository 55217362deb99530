"""A batch that takes long is seen while it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from patience import wait_for
from penstock.control.clock import WallClock
from penstock.model import Sample
from penstock.spark.measure.query_monitor import JOB, QueryMonitor
from penstock.spark.measure.running_batch import running_batch
from penstock.spark.measure.stages import StageReader

pytestmark = pytest.mark.spark

FEW, MANY, LATER = 10, 20_000, 500
SLOW = "reflect('java.lang.Thread', 'sleep', cast(5 + length(value) * 0 as bigint)) = 'null'"


@pytest.fixture
def topic(new_topic: Callable[..., Any]) -> Any:
    return new_topic(1)


@pytest.fixture
def query(spark: SparkSession, topic: Any, checkpoint: str) -> Iterator[StreamingQuery]:
    """Of 5 ms for each record: many of them take more than a minute."""
    records = spark.readStream.format("kafka").option("kafka.bootstrap.servers", topic.broker.servers)
    started = (
        records.option("subscribe", topic.name).option("startingOffsets", "earliest").load().where(SLOW)
        .writeStream.format("noop").option("checkpointLocation", checkpoint).start()
    )  # fmt: skip
    yield started
    started.stop()


def newest(query: StreamingQuery) -> int:
    """The number of the last batch that has ended."""
    number: int = query.lastProgress["batchId"]  # type: ignore[index]
    return number


def send(topic: Any, count: int) -> None:
    topic.send(*(b"record" for _ in range(count)))


def batches(topic: Any, query: StreamingQuery, count: int) -> None:
    """Some that end, so that it is known how long they take."""
    for _ in range(count):
        send(topic, FEW)
        query.processAllAvailable()


def test_a_batch_of_many_more_records_is_seen_before_it_is_overdue(
    spark: SparkSession, topic: Any, query: StreamingQuery
) -> None:
    monitor = QueryMonitor(query, StageReader(spark.sparkContext), WallClock(), lambda: 2, lambda: 1)
    batches(topic, query, 2)
    monitor.read()
    batches(topic, query, 2)
    monitor.read()
    monitor._longest = 3_600.0  # nothing is overdue in this test
    send(topic, MANY)
    late: list[Sample] = []

    def seen() -> bool:
        late.extend(sample for sample in monitor.read() if sample.throughput is None)
        monitor._longest = 3_600.0
        return bool(late)

    wait_for(seen, "the batch is seen")
    assert late[0].offered_rate > FEW
    assert (late[0].backlog or 0.0) > MANY / 2


def test_what_came_and_what_waits_is_known_before_the_batch_ends(
    spark: SparkSession, topic: Any, query: StreamingQuery
) -> None:
    settled = [0.0]
    monitor = QueryMonitor(
        query, StageReader(spark.sparkContext), WallClock(), lambda: 2, lambda: 1, settled_at=lambda: settled[0]
    )
    batches(topic, query, 2)
    monitor.read()
    batches(topic, query, 2)
    seen: list[Sample] = list(monitor.read())
    assert [sample.operators[JOB].records_in for sample in seen] == [2 * FEW]
    assert running_batch(spark.sparkContext, query) is None or not query.status["isTriggerActive"]

    send(topic, MANY)
    finished = newest(query)
    late: list[Sample] = []

    def overdue() -> bool:
        late.extend(sample for sample in monitor.read() if sample.throughput is None)
        return bool(late)

    wait_for(overdue, "the batch is overdue")
    assert newest(query) <= finished + 1  # Kafka may have given some of them to a batch before
    first = late[0]
    assert first.backlog is not None
    assert first.waiting == first.backlog  # what waits in the source does not wait in front of the operator as well
    assert first.backlog > MANY / 2
    assert first.offered_rate > FEW
    assert first.processing_latency_ms is not None
    assert first.event_latency_ms is not None
    assert (first.operators[JOB].records_in, first.operators[JOB].useful_seconds) == (None, None)  # it costs no more

    send(topic, LATER)
    settled[0] = WallClock().now()  # executors came meanwhile: the next whole window counts, though the batch runs on
    wait_for(lambda: overdue() and late[-1].t >= settled[0], "a window after the change")
    last = late[-1]
    assert not last.warm_up
    assert last.backlog is not None
    running = running_batch(spark.sparkContext, query)
    assert running is not None
    assert (running.since or 0.0) >= LATER
    assert last.backlog >= LATER
    assert last.processing_latency_ms is not None
    assert (last.processing_latency_ms.mean or 0.0) > (first.processing_latency_ms.mean or 0.0)
