"""Brokers that ask who is there: what Spark's options say reaches the client that reads offsets too."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer
from pyspark.sql import SparkSession

from penstock import Slo
from penstock.model import InvalidValueError, Sample
from penstock.spark import Pipeline, kafka
from penstock.spark.job import RunningJob
from penstock.spark.topics.admin_settings import admin_settings, not_understood
from penstock.testbed.broker import Broker
from spark_jobs import as_text, until

NAME, PASSWORD = "me", 'a "b;c='.replace('"', "")
RECORDS = 200


@pytest.fixture(scope="module")
def secured() -> Iterator[Broker]:
    with Broker(users={NAME: PASSWORD}) as broker:
        yield broker


def job_on(broker: Broker, engine: str, password: str = PASSWORD) -> Pipeline:
    options: Any = broker.spark_options(NAME, password)
    job = Pipeline(engine, source=kafka(f"{engine}-in", servers=broker.servers, **options))
    job.operator("parse", as_text)
    job.sink(kafka(f"{engine}-out", servers=broker.servers, **options), after="parse")
    return job


def client(broker: Broker, **more: str) -> dict[str, Any]:
    options = admin_settings(broker.spark_options(NAME, PASSWORD))
    return {"bootstrap.servers": broker.servers, "log_level": 0, **options, **more}


@pytest.mark.spark
@pytest.mark.parametrize("engine", ["microbatch", "realtime"])
def test_a_job_starts_delivers_and_sees_its_input_rate(
    engine: str, secured: Broker, spark: SparkSession, checkpoint: str
) -> None:
    for topic in (f"{engine}-in", f"{engine}-out"):
        secured.create_topic(topic, 1)
    producer = Producer(client(secured))
    consumer = Consumer(client(secured, **{"group.id": engine, "auto.offset.reset": "earliest"}))
    consumer.subscribe([f"{engine}-out"])
    seen: set[bytes] = set()
    samples: list[Sample] = []

    def send_and_read(job: RunningJob) -> Callable[[], bool]:
        def has_all() -> bool:
            producer.produce(f"{engine}-in", b"%d" % (len(sent)))
            sent.append(len(sent))
            producer.flush()
            seen.update(message.value() or b"" for message in consumer.consume(1_000, 0.05) if not message.error())
            samples.extend(job.engine.read())
            return len(seen) >= RECORDS and any(sample.input_rate for sample in samples)

        return has_all

    sent: list[int] = []
    with job_on(secured, engine).start(
        spark, slo=Slo(event_latency="5 s"), checkpoint=checkpoint, engine=engine, batch="1 s", mode="off"
    ) as job:  # fmt: skip
        until(send_and_read(job), "records and their rate", job)
    consumer.close()


@pytest.mark.spark
def test_a_wrong_password_is_one_sentence_before_anything_starts(secured: Broker, spark: SparkSession) -> None:
    with pytest.raises(
        InvalidValueError, match=rf"^source cannot be read: Kafka at {secured.servers} refuses the conn"
    ):
        job_on(secured, "nobody", "wrong").start(spark, slo=Slo(), checkpoint="nowhere")


PEM = {"kafka.ssl.truststore.type": "PEM", "kafka.ssl.truststore.location": "/ca.crt"}
ALGORITHM = "ssl.endpoint.identification.algorithm"


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        (PEM, {"ssl.ca.location": "/ca.crt"}),
        ({"kafka.ssl.truststore.certificates": "---"}, {"ssl.ca.pem": "---"}),
        ({f"kafka.{ALGORITHM}": ""}, {ALGORITHM: "none"}),
        ({"kafka.ssl.keystore.location": "/me.p12"}, {"ssl.keystore.location": "/me.p12"}),
        (
            {"kafka.ssl.keystore.location": "/me.pem", "kafka.ssl.keystore.password": "x"},
            {"ssl.key.location": "/me.pem", "ssl.certificate.location": "/me.pem"},
        ),
        (
            {"kafka.sasl.jaas.config": 'a.ScramLoginModule required username="me" password=x;'},
            {"sasl.username": "me", "sasl.password": "x"},
        ),
        (
            {"kafka.sasl.jaas.config": 'a.Krb5LoginModule required keyTab="/k" principal="me@HERE" useKeyTab=true;'},
            {"sasl.kerberos.keytab": "/k", "sasl.kerberos.principal": "me@HERE"},
        ),
        (
            {
                "kafka.sasl.oauthbearer.token.endpoint.url": "u",
                "kafka.sasl.jaas.config": 'a.OAuthBearerLoginModule required clientId="i" clientSecret="s";',
            },
            {
                "sasl.oauthbearer.token.endpoint.url": "u", "sasl.oauthbearer.client.id": "i",
                "sasl.oauthbearer.client.secret": "s", "sasl.oauthbearer.method": "oidc",
            },
        ),
    ],
)  # fmt: skip
def test_the_settings_of_java_in_the_words_of_librdkafka(options: dict[str, str], settings: dict[str, str]) -> None:
    assert admin_settings(options) == settings
    assert not_understood(options) == []


@pytest.mark.parametrize(
    "options",
    [
        {"kafka.ssl.truststore.location": "/trust.jks"},
        {"kafka.ssl.keystore.location": "/key.jks", "kafka.ssl.keystore.type": "JKS"},
        {"kafka.sasl.jaas.config": "software.amazon.msk.auth.iam.IAMLoginModule required;"},
    ],
)
def test_what_librdkafka_cannot_be_told_is_known(options: dict[str, str]) -> None:
    assert not_understood(options) == [next(iter(options))]
