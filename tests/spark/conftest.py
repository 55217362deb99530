"""Topics of a Kafka broker, and folders for checkpoints."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer

from patience import wait_for
from penstock.testbed.broker import Broker

LIMIT_SECONDS = 120.0
"""Ends a hang; no test says how fast something must be."""


_numbers = count()


class Topic:
    """A topic of one test: write to it, read all of it."""

    def __init__(self, broker: Broker, partitions: int) -> None:
        self.name = f"topic-{next(_numbers)}"
        self.broker = broker
        broker.create_topic(self.name, partitions)
        self.producer = Producer({"bootstrap.servers": broker.servers, "linger.ms": 2, "log_level": 0})
        self._consumer: Consumer | None = None
        self.seen: list[bytes] = []

    def send(self, *values: bytes) -> None:
        for value in values:
            self.producer.produce(self.name, value)
        self.producer.flush(LIMIT_SECONDS)

    def read(self) -> list[bytes]:
        """Everything that has come so far, in the order of arrival."""
        if self._consumer is None:
            self._consumer = Consumer({
                "bootstrap.servers": self.broker.servers, "group.id": self.name, "auto.offset.reset": "earliest",
                "log_level": 0,
            })  # fmt: skip
            self._consumer.subscribe([self.name])
        self.seen += [value for m in self._consumer.consume(5000, 0.2) if not m.error() and (value := m.value())]
        return self.seen

    def close(self) -> None:
        if self._consumer is not None:
            self._consumer.close()


@pytest.fixture
def new_topic(request: pytest.FixtureRequest) -> Iterator[Callable[..., Topic]]:
    """Makes topics of the broker that all tests share, or of the one that a test names."""
    made: list[Topic] = []

    def make(partitions: int = 1, on: Broker | None = None) -> Topic:
        made.append(Topic(on or request.getfixturevalue("broker"), partitions))
        return made[-1]

    yield make
    for topic in made:
        topic.close()


@pytest.fixture
def until() -> Callable[[Callable[[], object]], object]:
    """Wait for a condition."""
    return wait_for


@pytest.fixture
def checkpoint(tmp_path: Path) -> str:
    return str(tmp_path / "checkpoint")
