"""Asks the brokers for the topics of a pipeline before anything starts."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

from penstock.model import InvalidValueError
from penstock.spark.io.kafka_topic import Kafka
from penstock.spark.topics.offsets import Offsets

ANSWER_SECONDS = 5.0
"""Brokers that restart answer after a moment."""

SECURITY = ("kafka.security.", "kafka.sasl.", "kafka.ssl.")


def check_topics(source: Any, sinks: Iterable[Any]) -> None:
    """Refuse a topic that does not exist, and brokers that do not answer.

    A sink that is missing is made where the brokers make the topics that somebody writes to.
    """
    if isinstance(source, Kafka) and _is_missing(source, "source", "read"):
        raise InvalidValueError("source", f"cannot be read: {_there_is_none(source)}")
    for sink in sinks:
        if isinstance(sink, Kafka) and _is_missing(sink, "sink", "written"):
            brokers = Offsets(sink.servers)
            if not brokers.create_topics_by_themselves():
                why = "and its brokers do not create topics by themselves"
                raise InvalidValueError("sink", f"cannot be written: {_there_is_none(sink)}, {why}")
            brokers.create(sink.topic)


def _is_missing(topic: Kafka, field: str, done: str) -> bool:
    brokers, until = Offsets(topic.servers), time.monotonic() + ANSWER_SECONDS
    while (exists := brokers.exists(topic.topic)) is None:
        if any(name.startswith(SECURITY) for name in topic.options):
            return False  # these settings are for Java's clients: only Spark can ask there
        if time.monotonic() > until:
            raise InvalidValueError(field, f"cannot be {done}: Kafka at {topic.servers} does not answer")
    return not exists


def _there_is_none(topic: Kafka) -> str:
    return f"there is no topic {topic.topic!r} on {topic.servers}"
