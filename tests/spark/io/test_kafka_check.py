"""A topic that is not there is named, with the servers that were asked, before anything starts."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import SparkSession

from penstock import Slo
from penstock.model import InvalidValueError
from penstock.spark import Pipeline, kafka
from penstock.spark.io.kafka_check import check_topics
from penstock.spark.io.kafka_topic import Kafka
from penstock.spark.topics.offsets import Offsets
from penstock.testbed.broker import Broker
from penstock.testbed.ports import free_ports

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("engine", ["microbatch", "realtime"])
def test_a_missing_topic_is_named_before_anything_starts(
    engine: str, spark: SparkSession, broker: Broker, new_topic: Any, checkpoint: str
) -> None:
    there, servers = new_topic(), broker.servers

    def refusal(source: str, sink: str) -> str:
        job = Pipeline("job", source=kafka(source, servers=servers))
        job.operator("only", lambda frame: frame)
        job.sink(kafka(sink, servers=servers), after="only")
        with pytest.raises(InvalidValueError) as refused:
            job.start(spark, slo=Slo(), checkpoint=checkpoint, engine=engine)
        return str(refused.value)

    assert refusal("clickz", there.name) == f"source cannot be read: there is no topic 'clickz' on {servers}"
    assert refusal(there.name, "countz") == (
        f"sink cannot be written: there is no topic 'countz' on {servers}, and its brokers do not create topics by "
        "themselves"
    )
    assert spark.streams.active == []


def test_brokers_that_do_not_answer_are_said_to_be_silent(caplog: pytest.LogCaptureFixture) -> None:
    silent = f"127.0.0.1:{free_ports(1)[0]}"
    with pytest.raises(InvalidValueError, match=rf"^source cannot be read: Kafka at {silent} does not answer$"):
        check_topics(kafka("clicks", servers=silent), [])
    key_store = {"kafka.security.protocol": "SSL", "kafka.ssl.truststore.location": "/certs/trust.jks"}
    check_topics(Kafka("clicks", silent, options=key_store), [])  # only Spark can ask
    assert "which cannot use kafka.ssl.truststore.location: backlog and input rate are not measured" in caplog.text


def test_a_sink_is_made_where_the_brokers_make_topics_by_themselves_and_a_source_is_not() -> None:
    with Broker(settings={"auto.create.topics.enable": "true", "num.partitions": "3"}) as eager:
        check_topics(None, [kafka("counts", servers=eager.servers)])
        assert Offsets(eager.servers).partitions("counts") == 3
        with pytest.raises(InvalidValueError, match="there is no topic 'clicks'"):
            check_topics(kafka("clicks", servers=eager.servers), [])
