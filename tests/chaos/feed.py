"""What is sent to a job under chaos: numbered records with a key, at a rate, a skew and times that can be changed."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions  # type: ignore[attr-defined]

from patience import wait_for

KEYS = 20
PAUSE_SECONDS = 0.05
ADMIN_SECONDS = 30.0
POISON = "poison "
"""What a record that operators cannot stand begins with; its number comes after it."""


class Feed:
    """Sends 0, 1, 2 ... as text from its making on, round the partitions of a topic.

    rate        records a second
    partitions  those that it sends to
    hot         whether half of all records have one key, and lie in one partition
    stamp       the creation time of the next record, in milliseconds; None: now
    keys        how many records of each key were sent
    overtaken   the numbers that the topic has thrown away
    """

    def __init__(self, servers: str, topic: str, rate: float, partitions: int) -> None:
        self.rate, self.partitions, self.hot = rate, partitions, False
        self.stamp: Callable[[], int] | None = None
        self.keys: Counter[int] = Counter()
        self.overtaken: set[int] = set()
        self.sent = self.poisoned = 0
        self._topic = topic
        self._places: dict[int, tuple[int, int]] = {}  # partition and offset of each number
        self._more = 0
        # Idempotent: a broker that was killed before it could confirm a record gets it once all the same.
        self._producer = Producer({
            "bootstrap.servers": servers, "linger.ms": 2, "log_level": 0, "enable.idempotence": True,
            "reconnect.backoff.max.ms": 500,
        })  # fmt: skip
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Returns when all records are in the topic."""
        self._stopped.set()
        self._thread.join()
        self._settle()

    def burst(self, records: int) -> None:
        """Send so many more, as fast as possible."""
        self._more = records

    def poison(self) -> int:
        """Send a record that is not to come out anywhere; returns its number."""
        self.poisoned += 1
        self._producer.produce(self._topic, f"{POISON}{self.poisoned}".encode(), b"0", partition=0)
        return self.poisoned

    def add_partition(self, admin: AdminClient) -> None:
        [added] = admin.create_partitions([NewPartitions(self._topic, self.partitions + 1)]).values()
        added.result(ADMIN_SECONDS)
        self.partitions += 1

    def throw_away(self, admin: AdminClient) -> None:
        """Delete all records that the topic has now, as its retention does with old ones."""
        self._settle()
        ends = Counter[int]()
        for partition, offset in list(self._places.values()):
            ends[partition] = max(ends[partition], offset + 1)
        wanted = [TopicPartition(self._topic, partition, end) for partition, end in ends.items()]
        lows = {each.partition: answer.result(ADMIN_SECONDS) for each, answer in admin.delete_records(wanted).items()}
        places = self._places.copy()
        self.overtaken |= {n for n, (part, offset) in places.items() if part in lows and offset < ends[part]}

    def grows_by(self, records: int) -> None:
        """Returns when so many more have been sent."""
        before = self.sent
        wait_for(lambda: self.sent >= before + records, f"{records} records more")

    def _settle(self) -> None:
        assert self._producer.flush(120) == 0, "records could not be sent"

    def _run(self) -> None:
        due = 0.0
        while not self._stopped.wait(PAUSE_SECONDS):
            due += self.rate * PAUSE_SECONDS + self._more
            self._more = 0
            while self.sent < due:
                self._send(self.sent)
                self.sent += 1
            self._producer.poll(0)

    def _send(self, number: int) -> None:
        hot = self.hot and number % 2 == 0
        key, partition = (0, 0) if hot else (number % KEYS, number % self.partitions)
        self.keys[key] += 1
        times: dict[str, Any] = {} if self.stamp is None else {"timestamp": self.stamp()}
        while True:
            try:
                return self._produce(number, key, partition, times)
            except BufferError:  # the broker has been away for long
                self._producer.poll(PAUSE_SECONDS)
            except KafkaException as problem:
                if problem.args[0].code() != KafkaError._UNKNOWN_PARTITION:
                    raise
                self._producer.list_topics(self._topic, ADMIN_SECONDS)  # it was added, and the producer has not heard

    def _produce(self, number: int, key: int, partition: int, times: dict[str, Any]) -> None:
        def delivered(error: object, message: Any) -> None:
            assert error is None, f"record {number} could not be sent: {error}"
            self._places[number] = (message.partition(), message.offset())

        self._producer.produce(
            self._topic, str(number).encode(), str(key).encode(), partition=partition, on_delivery=delivered, **times
        )
