"""Records that say their number and their age, for benchmarks that look for each of them at the sink."""

from __future__ import annotations

import time
from dataclasses import dataclass

from confluent_kafka import Consumer
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from penstock.spark.io.kafka_topic import Kafka

MOST_WAIT_SECONDS = 60.0
LAST_SECONDS = 5.0
"""What comes twice may come last: so long it is waited for."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A record at the sink: its number with the marks that it got on its way, and when its original was created and it
    was written, in Unix seconds."""

    name: bytes
    created: float
    written: float

    @property
    def seconds(self) -> float:
        """The time that it took."""
        return self.written - self.created


def with_age(frame: DataFrame) -> DataFrame:
    """The number that a record holds, and the time of its creation; operators may add marks behind a comma."""
    created = F.unix_millis("timestamp").cast("string")
    return frame.select(F.concat_ws(",", F.col("value").cast("string"), created).alias("value"), "stamp")


def read_sink(sink: Kafka, expected: int) -> list[Seen]:
    """Everything at the sink, once as many different records as `expected` are there, or nothing comes any more."""
    consumer = Consumer({
        "bootstrap.servers": sink.servers, "group.id": sink.topic, "auto.offset.reset": "earliest", "log_level": 0,
    })  # fmt: skip
    consumer.subscribe([sink.topic])
    seen: list[Seen] = []
    names: set[bytes] = set()
    patience = time.monotonic() + MOST_WAIT_SECONDS
    while time.monotonic() < patience:
        for message in consumer.consume(5000, 0.5):
            number, created, *marks = (message.value() or b"").split(b",")
            seen.append(Seen(b",".join((number, *marks)), float(created) / 1e3, message.timestamp()[1] / 1e3))
            names.add(seen[-1].name)
        if len(names) == expected:
            patience = min(patience, time.monotonic() + LAST_SECONDS)
    consumer.close()
    return seen
