"""What Spark's Kafka source and sink can do passes through: headers, several topics, patterns."""

from __future__ import annotations

from typing import Any

import pytest
from confluent_kafka import Consumer, Producer
from pyspark.sql import SparkSession

from penstock import Slo
from penstock.model import InvalidValueError
from penstock.spark import Pipeline, kafka
from penstock.testbed.broker import Broker
from spark_jobs import until

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("engine", ["microbatch", "realtime"])
def test_several_topics_are_one_source_and_headers_travel(
    engine: str, broker: Broker, new_topic: Any, spark: SparkSession, checkpoint: str
) -> None:
    one, two, between, out = new_topic(), new_topic(2), new_topic(), new_topic()
    producer = Producer({"bootstrap.servers": broker.servers, "log_level": 0})
    for topic in (one, two):
        producer.produce(topic.name, topic.name.encode(), headers=[("from", topic.name.encode())])
    producer.flush()
    source = kafka([one.name, two.name], servers=broker.servers, includeHeaders=True)
    job = Pipeline(one.name, source=source)
    job.operator("pass", lambda frame: frame.select("value", "headers", "stamp"))
    job.operator("on", lambda frame: frame, after="pass")  # in real time its input is an internal topic
    job.sink(kafka(between.name, servers=broker.servers), after="pass")
    job.sink(kafka(out.name, servers=broker.servers), after="on")
    consumer = Consumer({"bootstrap.servers": broker.servers, "group.id": out.name, "auto.offset.reset": "earliest"})
    consumer.subscribe([out.name])
    seen: dict[bytes, Any] = {}

    def has_both() -> bool:
        seen.update({m.value() or b"": m.headers() for m in consumer.consume(10, 0.05) if not m.error()})
        return len(seen) == 2

    with job.start(spark, slo=Slo(), checkpoint=checkpoint, engine=engine, batch="1 s", mode="off") as running:
        until(has_both, "both records", running)
    consumer.close()
    assert seen == {topic.name.encode(): [("from", topic.name.encode())] for topic in (one, two)}
    assert source.backlog({one.name: {"0": 1}}, 0.0) == 1


def test_a_pattern_reads_topics_that_come_later_and_its_backlog_is_theirs(
    broker: Broker, new_topic: Any, spark: SparkSession, checkpoint: str
) -> None:
    out = new_topic()
    first, later, other = (f"{out.name}-{name}" for name in ("a", "b", "other"))
    for topic in (first, other):
        broker.create_topic(topic)
    producer = Producer({"bootstrap.servers": broker.servers, "log_level": 0})
    soon: Any = {"kafka.metadata.max.age.ms": "500"}
    source = kafka(subscribePattern=f"{out.name}-[ab]", servers=broker.servers, **soon)
    assert list(source.topics) == [first]
    job = Pipeline("pattern", source=source)
    job.operator("pass", lambda frame: frame.select("value"))
    job.sink(kafka(out.name, servers=broker.servers), after="pass")
    with job.start(spark, slo=Slo(), checkpoint=checkpoint, batch="200 ms", mode="off") as running:
        broker.create_topic(later)
        for topic in (first, later, other):
            producer.produce(topic, topic.encode())
        producer.flush()
        until(lambda: sorted(out.read()) == [first.encode(), later.encode()], "both records", running)
    assert list(source.topics) == [first, later]
    assert source.backlog({first: {"0": 1}}, 0.0) == 1


def test_what_a_source_or_a_sink_cannot_be_is_said(
    broker: Broker, new_topic: Any, spark: SparkSession, checkpoint: str
) -> None:
    topic, servers = new_topic(), broker.servers

    def refusal(source: Any, sink: Any, engine: str = "microbatch") -> str:
        job = Pipeline("job", source=source)
        job.operator("only", lambda frame: frame)
        job.sink(sink, after="only")
        with pytest.raises(InvalidValueError) as refused:
            job.start(spark, slo=Slo(), checkpoint=checkpoint, engine=engine)
        return str(refused.value)

    named = kafka(topic.name, servers=servers)
    pattern = kafka(subscribePattern=topic.name, servers=servers)
    assert refusal(named, kafka([topic.name, "b"], servers=servers)).startswith("sink must be one topic")
    assert refusal(pattern, named, "realtime").startswith("source must name its topics in real time")
    nothing = kafka(subscribePattern="no-.*", servers=servers)
    assert refusal(nothing, named) == f"source cannot be read: no topic on {servers} matches its pattern"
    assert refusal([named, named], named).startswith("source must be one: several topics are read by one kafka([...])")
    with pytest.raises(InvalidValueError, match=r"^kafka: topic must be named once"):
        kafka("a", subscribePattern="b", servers=servers)
