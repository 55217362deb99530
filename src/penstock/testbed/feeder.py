"""Writes a replayed load curve to a Kafka topic, each record when it is due."""

from __future__ import annotations

import threading
import time
from types import TracebackType

import numpy as np

from penstock.model.extras import needs
from penstock.spark.io.replayed import Replay

with needs("kafka"):
    from confluent_kafka import Producer

PAUSE_SECONDS = 0.005


class Feeder:
    """Feeds a topic in a `with` block, until the curve or the block ends. `began` is when the curve began."""

    def __init__(self, source: Replay, topic: str, servers: str) -> None:
        self.sent = 0
        self.began = 0.0
        self._source = source
        self._topic = topic
        self._producer = Producer({"bootstrap.servers": servers, "linger.ms": 2, "log_level": 0})
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._feed, name="penstock-feeder", daemon=True)

    def __enter__(self) -> Feeder:
        self.began = time.time()
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stopped.set()
        self._thread.join()
        self._producer.flush(10)

    def _feed(self) -> None:
        while not self._stopped.wait(PAUSE_SECONDS) and self.sent < self._source.total:
            due = self._source.count(time.time() - self.began)
            ids = np.arange(self.sent, due)
            created = np.round(1e3 * (self.began + self._source.created_at(ids))).astype(int).tolist()
            for value, timestamp in zip(self._source.values(ids), created, strict=True):
                self._send(value, timestamp)
            self.sent = due
            self._producer.poll(0)

    def _send(self, value: bytes, timestamp: int) -> None:
        while True:
            try:
                return self._producer.produce(self._topic, value, timestamp=timestamp)
            except BufferError:  # the broker is slower than the curve: records wait here and arrive late
                self._producer.poll(0.1)
