"""What the brokers answer about topics, and what becomes of answers that are no figures."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import Producer, TopicCollection, TopicPartition
from confluent_kafka.admin import NewPartitions  # type: ignore[attr-defined]

from penstock.spark.topics import offsets as module
from penstock.spark.topics.offsets import Offsets
from penstock.testbed.broker import Broker

Until = Callable[[Callable[[], object]], None]

ASKING = 4


class Client:
    """Answers as librdkafka's client does, with the offsets of one topic."""

    def __init__(self, *offsets: int) -> None:
        self.offsets = list(offsets)

    def describe_topics(self, topics: TopicCollection, *, request_timeout: float) -> dict[str, Future[Any]]:
        return {"clicks": answered(SimpleNamespace(partitions=self.offsets))}

    def list_offsets(
        self, requests: Iterable[TopicPartition], *, request_timeout: float
    ) -> dict[TopicPartition, Future[Any]]:
        return {place: answered(SimpleNamespace(offset=self.offsets[place.partition])) for place in requests}


def answered(value: object) -> Future[Any]:
    future: Future[Any] = Future()
    future.set_result(value)
    return future


def offsets_of(client: Client, monkeypatch: pytest.MonkeyPatch) -> Offsets:
    monkeypatch.setattr(module, "AdminClient", lambda settings: client)
    return Offsets("nobody:9092")


@pytest.mark.parametrize("bad", [(-1001, -1001, -1001), (5, -1001, 7), (3000, -1, 2000)])
def test_a_negative_offset_makes_the_whole_answer_none(bad: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    offsets = offsets_of(Client(*bad), monkeypatch)
    assert offsets.ends(["clicks"]) is None
    assert offsets.begins(["clicks"]) is None


def test_a_partition_that_was_added_counts_from_the_next_answer_on(monkeypatch: pytest.MonkeyPatch) -> None:
    client = Client(5, 6)
    offsets = offsets_of(client, monkeypatch)
    assert offsets.ends(["clicks"]) == {"clicks": 11}
    client.offsets.append(7)
    assert offsets.ends(["clicks"]) is None  # 11 would not be the whole topic
    assert offsets.ends(["clicks"]) == {"clicks": 18}
    assert offsets.count(["clicks"]) == 3


@pytest.mark.spark
def test_whoever_asks_while_a_broker_is_killed_gets_none_or_the_truth(
    own_broker: Broker, new_topic: Any, until: Until
) -> None:
    topic = new_topic(3, on=own_broker)
    topic.send(b"one", b"two")
    truth = {topic.name: 2}
    offsets = Offsets(own_broker.servers)
    answers: list[dict[str, int] | None] = []
    known = threading.Barrier(ASKING + 1)

    def ask() -> None:
        answers.append(offsets.ends([topic.name]))
        known.wait()
        while answers[-1] is not None:
            answers.append(offsets.ends([topic.name]))

    asking = [threading.Thread(target=ask) for _ in range(ASKING)]
    for thread in asking:
        thread.start()
    known.wait()
    own_broker.kill()
    for thread in asking:
        thread.join()
    assert [answer for answer in answers if answer not in (truth, None)] == []
    assert offsets.ends([topic.name]) is None  # nobody raises because a broker is away

    own_broker.restart()  # on its port, with its data
    until(lambda: offsets.ends([topic.name]) == truth)
    until(lambda: offsets.begins([topic.name]) == {topic.name: 0})


@pytest.mark.spark
def test_partitions_that_come_and_go_are_noticed(broker: Broker, new_topic: Any, until: Until) -> None:
    topic = new_topic(2)
    topic.send(b"one")
    offsets = Offsets(broker.servers)
    assert offsets.ends([topic.name]) == {topic.name: 1}
    broker.admin.create_partitions([NewPartitions(topic.name, 3)])[topic.name].result(30)
    until(lambda: offsets.ends([topic.name]) == {topic.name: 1} and offsets.count([topic.name]) == 3)
    broker.admin.delete_topics([topic.name])[topic.name].result(30)
    until(lambda: offsets.ends([topic.name]) is None)
    until(lambda: offsets.partitions(topic.name) is None)
    broker.create_topic(topic.name, 1)
    until(lambda: offsets.ends([topic.name]) == {topic.name: 0})
    assert offsets.count([topic.name]) == 1


@pytest.mark.spark
def test_a_topic_that_is_there_is_kept(broker: Broker, new_topic: Any) -> None:
    topic = new_topic(2)
    topic.send(b"one")
    offsets = Offsets(broker.servers)
    offsets.create(topic.name, 5)
    assert offsets.ends([topic.name]) == {topic.name: 1}
    assert offsets.partitions("nowhere") is None


@pytest.mark.spark
def test_records_are_counted_from_a_time_on_by_their_stamps(broker: Broker) -> None:
    broker.create_topic("stamped", 2)
    producer = Producer({"bootstrap.servers": broker.servers, "log_level": 0})
    begin = round(time.time())  # brokers throw old records away
    for second, partition in ((10, 0), (20, 0), (20, 1), (30, 0)):
        producer.produce("stamped", b"x", partition=partition, timestamp=1000 * (begin + second))
    producer.flush()
    offsets = Offsets(broker.servers)
    assert offsets.ends(["stamped"]) == {"stamped": 4}
    found = [offsets.written_since(["stamped"], begin + at) for at in (5.0, 20.0, 20.001, 31.0)]
    assert found == [{"stamped": n} for n in (4, 3, 1, 0)]
