"""A job in real time with a fan-out and a fan-in, for benchmarks. Every record comes out twice, and says its age."""

from __future__ import annotations

import time
from collections.abc import Callable

from confluent_kafka import Consumer
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from penstock.spark.io.kafka_topic import Kafka
from penstock.spark.pipeline import Pipeline
from penstock.testbed.broker import Broker

Seen = tuple[float, bytes, float]
"""A record at the sink: when it was written, its name, and when its original was created; in Unix seconds."""


def diamond(source: Kafka, sink: Kafka) -> Pipeline:
    """Every record comes out twice, marked as that of the left and of the right branch."""

    def read(frame: DataFrame) -> DataFrame:
        created = F.unix_millis("timestamp").cast("string")
        return frame.select(F.concat_ws(",", F.col("value").cast("string"), created).alias("value"), "stamp")

    def marked(mark: str) -> Callable[[DataFrame], DataFrame]:
        return lambda frame: frame.withColumn("value", F.concat("value", F.lit(mark)))

    job = Pipeline("changes", source=source)
    first = job.operator("read", read)
    branches = [job.operator(name, marked(f",{name}"), after=first) for name in ("left", "right")]
    job.sink(sink, after=job.operator("join", lambda frame: frame, after=branches))
    return job


def read_sink(broker: Broker, topic: str, expected: int) -> list[Seen]:
    """Everything at the sink, once as many different records as `expected` are there, or nothing comes any more."""
    consumer = Consumer({
        "bootstrap.servers": broker.servers, "group.id": topic, "auto.offset.reset": "earliest", "log_level": 0,
    })  # fmt: skip
    consumer.subscribe([topic])
    seen: list[Seen] = []
    names: set[bytes] = set()
    patience = time.monotonic() + 30.0
    while time.monotonic() < patience:  # what comes twice may come last
        for message in consumer.consume(5000, 0.5):
            number, created, mark = (message.value() or b"").split(b",")
            names.add(number + mark)
            seen.append((message.timestamp()[1] / 1e3, number + mark, float(created) / 1e3))
        if len(names) == expected:
            patience = min(patience, time.monotonic() + 5.0)
    consumer.close()
    return seen
