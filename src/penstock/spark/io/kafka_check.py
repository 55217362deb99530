"""Asks the brokers for the topics of a pipeline before anything starts."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from typing import Any

from penstock.model import InvalidValueError
from penstock.spark.io.kafka_topic import Kafka
from penstock.spark.topics.admin_settings import not_understood

log = logging.getLogger("penstock")

ANSWER_SECONDS = 5.0
"""Brokers that restart answer after a moment."""


def check_topics(source: Any, sinks: Iterable[Any]) -> None:
    """Refuse a topic that does not exist, and brokers that do not answer.

    A sink that is missing is made where the brokers make the topics that somebody writes to.
    """
    if isinstance(source, Kafka):
        if not source.topics and _answers(source, "source", "read"):
            raise InvalidValueError("source", f"cannot be read: no topic on {source.servers} matches its pattern")
        if (topic := _missing(source, "source", "read")) is not None:
            raise InvalidValueError("source", f"cannot be read: {_there_is_none(source, topic)}")
    for sink in sinks:
        if not isinstance(sink, Kafka):
            continue
        if len(sink.topic.split(",")) > 1 or not sink.topic:
            raise InvalidValueError("sink", "must be one topic: give an operator several sinks to write to several")
        if _missing(sink, "sink", "written") is not None:
            if not sink.offsets.create_topics_by_themselves():
                why = "and its brokers do not create topics by themselves"
                raise InvalidValueError("sink", f"cannot be written: {_there_is_none(sink, sink.topic)}, {why}")
            sink.offsets.create(sink.topic)


def _missing(topics: Kafka, field: str, done: str) -> str | None:
    """The first of the topics that does not exist; None if there is none, or only Spark can ask."""
    if not _answers(topics, field, done):
        return None
    return next((topic for topic in topics.topics if topics.offsets.exists(topic) is False), None)


def _answers(topics: Kafka, field: str, done: str) -> bool:
    """Whether the brokers answer to the client that reads offsets. Refused if they do not, unless only Spark's own
    clients can log in there."""
    until = time.monotonic() + ANSWER_SECONDS
    while topics.offsets.answers() is False:
        if time.monotonic() > until:
            unknown = [] if topics.admin else not_understood(topics.options)
            if unknown:
                log.warning(NOT_UNDERSTOOD, topics.servers, ", ".join(unknown))
                return False
            why = topics.offsets.why_silent()
            said = "does not answer" if why is None else f"refuses the connection: {why}"
            raise InvalidValueError(field, f"cannot be {done}: Kafka at {topics.servers} {said}")
    return True


NOT_UNDERSTOOD = (
    "Kafka at %s does not answer to the client that reads offsets, which cannot use %s: backlog and input rate are not "
    "measured; give kafka(..., admin={...}) the same in the settings of librdkafka"
)


def _there_is_none(topics: Kafka, topic: str) -> str:
    return f"there is no topic {topic!r} on {topics.servers}"
