"""How far Kafka's topics have grown: read from the brokers, without consuming anything."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping

from confluent_kafka import KafkaError, KafkaException, TopicCollection, TopicPartition
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AdminClient,
    ConfigResource,
    NewTopic,
    OffsetSpec,
)

from penstock.model import PenstockError

CREATION_SECONDS = 30.0

NO_SUCH_RECORD = -1
"""What the brokers answer for the first record since a time if there is none since then."""


class Offsets:
    """Asks the brokers. One that is away gives None: whoever asks can do without, and asks again."""

    def __init__(
        self, servers: str, settings: Mapping[str, str] | None = None, *, limit_seconds: float = 2.0
    ) -> None:  # fmt: skip
        """`settings` are those of librdkafka, such as who asks and how."""
        self.last_error: str | None = None
        self._limit_seconds = limit_seconds
        self._patience = 2 * limit_seconds  # only if the client itself breaks its limit
        self._admin = AdminClient({
            "bootstrap.servers": servers, "reconnect.backoff.max.ms": 500, "log_level": 0,
            # By default it asks for 15 minutes with the epoch of a leader that is no more, and is refused each time.
            "metadata.max.age.ms": 1000,
            "error_cb": self._on_error,  # type: ignore[dict-item]
            **(settings or {}),
        })  # fmt: skip
        self._partitions: dict[str, int] = {}

    def _on_error(self, error: KafkaError) -> None:
        if error.code() in (KafkaError._AUTHENTICATION, KafkaError._SSL):  # others say less than that nobody answers
            self.last_error = error.str()

    def answers(self) -> bool:
        """Whether somebody answers."""
        try:
            self._admin.list_topics(timeout=self._limit_seconds)
        except KafkaException:
            return False
        return True

    def why_silent(self) -> str | None:
        """What the brokers refuse, if they were reached; None: nobody answers."""
        self._admin.poll(0)
        return self.last_error

    def matching(self, pattern: str) -> tuple[str, ...]:
        """The topics whose whole names match a pattern, as Spark's `subscribePattern` takes them; none while nobody
        answers. Java's patterns and Python's agree on what names of topics need."""
        try:
            names = self._admin.list_topics(timeout=self._limit_seconds).topics
        except KafkaException:
            return ()
        return tuple(sorted(name for name in names if re.fullmatch(pattern, name)))

    def delete(self, topics: Iterable[str]) -> None:
        """Delete topics with all their records."""
        for deleted in self._admin.delete_topics(list(topics)).values():
            deleted.result(CREATION_SECONDS)

    def partitions(self, topic: str) -> int | None:
        """How many partitions a topic has; None if it does not exist or nobody answers."""
        try:
            return self._counted([topic])[topic]
        except (KafkaException, TimeoutError):
            return None

    def exists(self, topic: str) -> bool | None:
        """Whether there is such a topic; None if nobody answers."""
        try:
            self._counted([topic])
        except (KafkaException, TimeoutError) as error:
            return False if _is_about_a_partition_that_is_gone(error) else None
        return True

    def create_topics_by_themselves(self) -> bool:
        """Whether the brokers make a topic when somebody writes to it; False if they do not say."""
        try:
            brokers = self._admin.list_topics(timeout=self._limit_seconds).brokers
            settings = [ConfigResource(ConfigResource.Type.BROKER, str(number)) for number in brokers]
            answers = self._admin.describe_configs(settings, request_timeout=self._limit_seconds).values()
            found = [answer.result(self._patience)["auto.create.topics.enable"].value for answer in answers]
        except (KafkaException, TimeoutError, KeyError):
            return False
        return bool(found) and all(value == "true" for value in found)

    def count(self, topics: Iterable[str]) -> int:
        """How many partitions these topics have together, as of the last answer."""
        return sum(self._partitions[topic] for topic in topics)

    def ends(self, topics: Iterable[str]) -> dict[str, int] | None:
        """Records ever written to each topic: the sum of its partitions' end offsets."""
        return self._sums(topics, OffsetSpec.latest())  # type: ignore[no-untyped-call]

    def begins(self, topics: Iterable[str]) -> dict[str, int] | None:
        """Records of each topic that Kafka has thrown away by now."""
        return self._sums(topics, OffsetSpec.earliest())  # type: ignore[no-untyped-call]

    def ends_by_partition(self, topics: Iterable[str]) -> dict[str, dict[str, int]] | None:
        """The end offsets of each partition of each topic, as Spark writes them."""
        return self._by_partition(topics, OffsetSpec.latest())  # type: ignore[no-untyped-call]

    def written_since(self, topics: Iterable[str], at: float) -> dict[str, int] | None:
        """Records of each topic whose time stamps are not before `at`, in Unix seconds.

        Where stamps do not rise from record to record, all from the first of these on.
        """
        wanted = list(topics)
        ends = self.ends_by_partition(wanted)
        stamp = OffsetSpec.for_timestamp(round(1e3 * at))
        firsts = self._by_partition(wanted, stamp, NO_SUCH_RECORD)
        if ends is None or firsts is None:
            return None
        return {
            topic: sum(max(0, end - firsts[topic][n]) for n, end in each.items() if firsts[topic][n] != NO_SUCH_RECORD)
            for topic, each in ends.items()
        }

    def _sums(self, topics: Iterable[str], which: OffsetSpec) -> dict[str, int] | None:
        found = self._by_partition(topics, which)
        return None if found is None else {topic: sum(offsets.values()) for topic, offsets in found.items()}

    def _by_partition(
        self, topics: Iterable[str], which: OffsetSpec, least: int = 0
    ) -> dict[str, dict[str, int]] | None:  # fmt: skip
        wanted = list(topics)
        try:
            if not self._partitions.keys() >= set(wanted):
                self._partitions |= self._counted(wanted)
            counts = {topic: self._partitions[topic] for topic in wanted}
            requests = {TopicPartition(topic, number): which for topic in wanted for number in range(counts[topic])}
            answers = self._admin.list_offsets(requests, request_timeout=self._limit_seconds)
            offsets = {place: answer.result(self._patience).offset for place, answer in answers.items()}
            # For a partition that cannot be reached librdkafka may answer -1001, "invalid", without raising anything.
            if not all(type(offset) is int and offset >= least for offset in offsets.values()):
                return None
            # Partitions are added while a job runs: a sum without them would be too small.
            if (counted := self._counted(wanted)) != counts:
                self._partitions |= counted
                return None
        except (KafkaException, TimeoutError) as error:
            if _is_about_a_partition_that_is_gone(error):
                self._partitions = {topic: n for topic, n in self._partitions.items() if topic not in wanted}
            return None
        found: dict[str, dict[str, int]] = {topic: {} for topic in wanted}
        for place, offset in offsets.items():
            found[place.topic][str(place.partition)] = offset
        return found

    def _counted(self, topics: list[str]) -> dict[str, int]:
        """The partitions that each topic has now. Raises where nobody answers."""
        answers = self._admin.describe_topics(TopicCollection(topics), request_timeout=self._limit_seconds)
        return {topic: len(answer.result(self._patience).partitions) for topic, answer in answers.items()}

    def create(self, topic: str, partitions: int = -1) -> None:
        """Make a topic, unless there is one of this name: after a restart its records still matter. Without a number of
        partitions it has as many as the brokers give to a new topic.

        Brokers confirm a new topic before all of them know it: this waits until the topic can be read.
        """
        [created] = self._admin.create_topics([NewTopic(topic, partitions)]).values()
        try:
            created.result(CREATION_SECONDS)
        except KafkaException as error:
            if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise
        until = time.monotonic() + CREATION_SECONDS
        while self.ends([topic]) is None:
            if time.monotonic() > until:
                raise PenstockError(f"Kafka made the topic {topic}, but cannot read it after {CREATION_SECONDS:.0f} s")
            time.sleep(0.01)


def _is_about_a_partition_that_is_gone(error: Exception) -> bool:
    gone = (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC, KafkaError._UNKNOWN_PARTITION)
    return isinstance(error, KafkaException) and error.args[0].code() in gone
