"""`penstock clean` lists internal topics, and deletes them only when it is told to."""

from __future__ import annotations

import pytest

from command_line import Command
from patience import wait_for
from penstock.spark.realtime.layout import internal_topic
from penstock.testbed.broker import Broker
from penstock.testbed.ports import free_ports


@pytest.mark.spark
def test_internal_topics_are_listed_and_deleted_when_told_to(broker: Broker, penstock: Command) -> None:
    clicks, views = internal_topic("to clean", "parse", "s3://a"), internal_topic("cleaned", "parse", "s3://b")
    others = "penstock-clicks", "penstock-a-b-c"
    for topic in (clicks, views, *others):
        broker.create_topic(topic)

    def there() -> set[str]:
        return {clicks, views, *others} & set(broker.admin.list_topics(timeout=30).topics)

    listed = penstock("clean", "--servers", broker.servers)
    assert {clicks, views} <= set(listed.out.split())
    assert not set(others) & set(listed.out.split())
    assert listed.err == "nothing was deleted: --delete does it\n"
    assert penstock("clean", "--servers", broker.servers, "--checkpoint", "s3://b/").out.split() == [views]

    deleted = penstock("clean", "--servers", broker.servers, "--pipeline", "to clean", "--delete")
    assert (deleted.out.split(), deleted.err) == ([clicks], "1 deleted\n")
    wait_for(lambda: there() == {views, *others})
    again = penstock("clean", "--servers", broker.servers, "--pipeline", "to clean")
    assert again.err == "there is no internal topic\n"


def test_brokers_that_do_not_answer_are_one_sentence(penstock: Command) -> None:
    silent = f"127.0.0.1:{free_ports(1)[0]}"
    ended = penstock("clean", "--servers", silent)
    assert ended.complaint == f"Kafka at {silent} does not answer"
