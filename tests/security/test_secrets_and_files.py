"""Passwords appear nowhere, names cannot break out of a page, and files are their owner's."""

from __future__ import annotations

import logging
import sqlite3
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from hostile import NASTY, nasty_loop, no_umask, others_may
from loop_fakes import Job, Wants, a_loop
from penstock.control.controller import Controller
from penstock.metrics.job_figures import JobFigures
from penstock.metrics.server import MetricsServer
from penstock.model import PenstockError, Plan
from penstock.spark.failure import in_one_line
from penstock.stores.history import History
from penstock.stores.sql import SqlStore

SECRET = "hunter2"
LOGIN = f'org.apache.kafka.common.security.plain.PlainLoginModule required username="me" password="{SECRET}";'


# Passwords -----------------------------------------------------------------------------------------------------------


class Quoting(Job):
    """A cluster whose errors quote what it was told."""

    def apply(self, plan: Plan) -> None:
        raise ConnectionError(f"refused by jdbc:postgresql://db/jobs?user=me&password={SECRET}")


@pytest.mark.parametrize(
    "parts",
    [
        {"actuator": Quoting()},
        {"readings": [OSError(f"no answer from kafka with {LOGIN}")]},
        {"policy": Wants(ValueError(f"postgresql://me:{SECRET}@db/models is away"))},
    ],
)
def test_a_password_that_an_error_quotes_is_in_no_log_and_no_database(
    parts: dict[str, Any], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = SqlStore(f"sqlite:///{tmp_path / 'penstock.db'}")
    with caplog.at_level(logging.INFO, "penstock"):
        cycle = a_loop(store=store, **parts).run_once()
    store.close()
    assert "***" in (cycle.problem or cycle.decision.reason.text)
    assert SECRET not in caplog.text
    assert all(SECRET.encode() not in file.read_bytes() for file in tmp_path.iterdir())


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql+psycopg://me:{SECRET}@127.0.0.1:9/jobs",
        f"nosuchdatabase://me:{SECRET}@db/jobs",
        f"sqlite:////nowhere/at/all/penstock.db?password={SECRET}",
        f"postgresql://me:{SECRET}@[::1/jobs",
        f"not a url {SECRET}@db",
    ],
)
@pytest.mark.filterwarnings("ignore:Query string argument")  # SQLAlchemy's own, of the URL of SQLite
def test_the_password_of_a_store_is_in_no_error(url: str) -> None:
    for opened in (SqlStore, History):
        with pytest.raises(PenstockError) as refused:
            opened(url)
        assert SECRET not in str(refused.value)


def test_options_of_sources_and_sinks_are_not_shown() -> None:
    from penstock.spark.io.by_format import sink
    from penstock.spark.io.kafka_topic import kafka

    login: Any = {"kafka.sasl.jaas.config": LOGIN}
    shown = repr(kafka("clicks", servers="b:9092", **login))
    shown += repr(sink("jdbc", url=f"jdbc:postgresql://db/jobs?password={SECRET}"))
    assert "clicks" in shown
    assert SECRET not in shown


def test_what_ended_a_query_is_told_without_passwords() -> None:
    assert in_one_line(f"Failed to construct kafka consumer: {LOGIN}\n\tat org.apache").count("***") == 1


# Pages ---------------------------------------------------------------------------------------------------------------


def test_labels_of_prometheus_are_escaped() -> None:
    from prometheus_client.parser import text_string_to_metric_families

    server, loop = MetricsServer.of(0), nasty_loop()
    try:
        figures = JobFigures("app-1", NASTY, Controller(loop))
        server.collector.add(figures)
        figures(loop.run_once())
        text = urllib.request.urlopen(f"http://127.0.0.1:{server.port}/metrics").read().decode()
    finally:
        server.release()
    families = {family.name: family for family in text_string_to_metric_families(text)}
    (line,) = families["penstock_parallelism"].samples
    assert (line.labels["operator"], line.labels["query_name"], line.value) == (NASTY, NASTY, 2)


# Files ---------------------------------------------------------------------------------------------------------------


def test_a_store_is_its_owners_also_when_it_is_begun_again(tmp_path: Path) -> None:
    with no_umask():
        _begun_twice(tmp_path)


def _begun_twice(tmp_path: Path) -> None:
    store = SqlStore(f"sqlite:///{tmp_path / 'penstock.db'}")
    loop = a_loop(store=store)
    loop.run_once()
    with sqlite3.connect(tmp_path / "penstock.db") as reader:  # keeps the files beside it
        reader.execute("SELECT * FROM penstock_cycles").fetchone()
        loop.run_once()
        files = list(tmp_path.iterdir())
        assert len(files) == 3
        assert not any(map(others_may, files))
    reader.close()
    for file in files:
        file.unlink(missing_ok=True)
    loop.run_once()
    assert others_may(tmp_path / "penstock.db") == 0
    store.close()


def test_a_store_keeps_the_rights_that_somebody_gave_it(tmp_path: Path) -> None:
    file = tmp_path / "penstock.db"
    SqlStore(f"sqlite:///{file}").close()
    file.chmod(0o640)
    SqlStore(f"sqlite:///{file}").close()
    assert others_may(file) == 0o040
