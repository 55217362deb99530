"""Numbered records for the stories about jobs on Kafka, and what arrived of them."""

from __future__ import annotations

import threading

from confluent_kafka import Consumer, Producer

from cluster_story import until

TICK_SECONDS = 0.05


class Load:
    """Numbered records at a rate that can be changed, spread over the partitions of a topic."""

    def __init__(self, servers: str, topic: str, partitions: int, rate: float) -> None:
        self.rate = rate
        self.sent = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(servers, topic, partitions), daemon=True)
        self._thread.start()

    def _run(self, servers: str, topic: str, partitions: int) -> None:
        producer = Producer({"bootstrap.servers": servers})
        due = 0.0
        while not self._stop.wait(TICK_SECONDS):
            due += self.rate * TICK_SECONDS
            while self.sent < due:
                producer.produce(topic, str(self.sent).encode(), partition=self.sent % partitions)
                self.sent += 1
            producer.poll(0)
        producer.flush(30)

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()


def delivered(servers: str, topic: str, expected: int) -> list[int]:
    """The numbers in a topic, as soon as there are as many different ones as expected."""
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "check", "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    seen: list[int] = []

    def all_there() -> bool:
        seen.extend(int(m.value() or b"-1") for m in consumer.consume(5000, 0.5) if not m.error())
        return len(set(seen)) >= expected

    until("every record has arrived", all_there)
    consumer.close()
    return seen
