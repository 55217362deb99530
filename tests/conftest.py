"""The same examples on every run, and no bound on the wall clock: a slow machine fails nothing.

One Spark and one Kafka broker for all tests that need them and leave them as they are: they take seconds to start.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from penstock.testbed.broker import Broker

settings.register_profile(
    "penstock", deadline=None, derandomize=True, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("penstock")


@pytest.fixture(scope="session")
def shared_spark() -> Iterator[SparkSession]:
    from penstock.testbed.jars import connector_jars
    from penstock.testbed.session import local_session

    session = local_session("local[16]", jars=connector_jars())
    yield session
    session.stop()


@pytest.fixture
def spark(shared_spark: SparkSession) -> Iterator[SparkSession]:
    """The one Spark. Queries that a failed test left running are ended: the next test needs their slots."""
    yield shared_spark
    for query in shared_spark.streams.active:
        query.stop()


@pytest.fixture(scope="session")
def broker() -> Iterator[Broker]:
    """The one broker: no test may end it or start it again."""
    from penstock.testbed.broker import Broker

    with Broker() as running:
        yield running


@pytest.fixture
def own_broker() -> Iterator[Broker]:
    """A broker for a test that kills it: if that test fails, no other one is left without a broker."""
    from penstock.testbed.broker import Broker

    with Broker() as running:
        yield running


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A PEM file with a certificate for this machine and its key."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed: it makes the certificate")
    file, key = tmp_path / "both.pem", tmp_path / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", file],
        check=True, capture_output=True,
    )  # fmt: skip
    file.write_text(file.read_text() + key.read_text())
    return file
