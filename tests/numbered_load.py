"""Numbered records in a Kafka topic, at a rate that can be changed while they flow."""

from __future__ import annotations

import threading

from confluent_kafka import Producer

PAUSE_SECONDS = 0.05


class NumberedLoad:
    """Sends 0, 1, 2 ... as text from its making on, round the partitions of a topic. `sent` is how many by now."""

    def __init__(self, servers: str, topic: str, rate: float, partitions: int = 1) -> None:
        self.rate = rate
        self.sent = 0
        self._partitions = partitions
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(servers, topic), daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Returns when all records are in the topic."""
        self._stopped.set()
        self._thread.join()

    def _run(self, servers: str, topic: str) -> None:
        producer = Producer({"bootstrap.servers": servers, "linger.ms": 2, "log_level": 0})
        due = 0.0
        while not self._stopped.wait(PAUSE_SECONDS):
            due += self.rate * PAUSE_SECONDS
            while self.sent < due:
                producer.produce(topic, str(self.sent).encode(), partition=self.sent % self._partitions)
                self.sent += 1
            producer.poll(0)
        assert producer.flush(60) == 0
