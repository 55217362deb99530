"""How far Kafka's topics have grown: read from the brokers, without consuming anything."""

from __future__ import annotations

from collections.abc import Iterable

from confluent_kafka import KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic, OffsetSpec  # type: ignore[attr-defined]


class Offsets:
    """Asks the brokers. One that is away gives None: whoever asks can do without, and asks again."""

    def __init__(self, servers: str, *, limit_seconds: float = 2.0) -> None:
        self._limit_seconds = limit_seconds
        self._admin = AdminClient({
            "bootstrap.servers": servers, "reconnect.backoff.max.ms": 500, "log_level": 0,
        })  # fmt: skip
        self._partitions: dict[str, int] = {}

    def partitions(self, topic: str) -> int | None:
        """How many partitions a topic has; None if it does not exist or nobody answers."""
        try:
            found = self._admin.list_topics(topic, timeout=self._limit_seconds).topics[topic]
        except KafkaException:
            return None
        return len(found.partitions) or None

    def count(self, topics: Iterable[str]) -> int:
        """How many partitions these topics have together, as last seen."""
        return sum(self._partitions[topic] for topic in topics)

    def ends(self, topics: Iterable[str]) -> dict[str, int] | None:
        """Records ever written to each topic: the sum of its partitions' end offsets."""
        return self._sums(topics, OffsetSpec.latest())  # type: ignore[no-untyped-call]

    def begins(self, topics: Iterable[str]) -> dict[str, int] | None:
        """Records of each topic that Kafka has thrown away by now."""
        return self._sums(topics, OffsetSpec.earliest())  # type: ignore[no-untyped-call]

    def _sums(self, topics: Iterable[str], which: OffsetSpec) -> dict[str, int] | None:
        wanted = list(topics)
        for topic in wanted:
            if topic not in self._partitions:
                if (count := self.partitions(topic)) is None:
                    return None
                self._partitions[topic] = count
        requests = {
            TopicPartition(topic, partition): which for topic in wanted for partition in range(self._partitions[topic])
        }
        total = dict.fromkeys(wanted, 0)
        try:
            answers = self._admin.list_offsets(requests, request_timeout=self._limit_seconds)
            for place, answer in answers.items():
                total[place.topic] += answer.result(2 * self._limit_seconds).offset
        except (KafkaException, TimeoutError):
            return None
        return total

    def create(self, topic: str, partitions: int) -> None:
        """Make a topic, unless there is one of this name: after a restart its records still matter."""
        [created] = self._admin.create_topics([NewTopic(topic, partitions)]).values()
        try:
            created.result(30)
        except KafkaException as error:
            if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise
