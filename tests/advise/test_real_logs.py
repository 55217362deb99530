"""Logs that real Spark jobs wrote, in every supported version: with and without shuffles, with state, two queries."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path

import pytest

from advise_logs import KINDS, LOGS, VERSIONS, named
from penstock.advise.history import read_history
from penstock.advise.lines import lines
from penstock.advise.log_files import EventLog
from penstock.advise.query_history import WARM_UP
from penstock.model import Slo

SLO = Slo(event_latency="30 s")


def test_there_is_a_log_of_every_kind_and_version() -> None:
    assert all(named(version, kind).exists() for version in VERSIONS for kind in KINDS)


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.name)
def test_a_log_tells_what_its_queries_did(log: Path) -> None:
    history = read_history(EventLog(log), SLO)
    version = log.name.split("-")[1]
    assert history.version == version
    assert history.application
    assert len(history.queries) == (2 if "two" in log.name else 1)
    for query in history.queries.values():
        assert query.batches > 0
        assert query.records > 0
        assert 0 < query.task_seconds < query.core_seconds
        assert query.cost.estimate is not None
        assert query.latency.mean is not None
        assert query.stretch >= 1


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.name)
def test_the_sums_of_stages_are_those_of_their_tasks(log: Path) -> None:
    """Tasks are not read, as Spark sums them up for each stage. Here they are, by themselves."""
    events = [json.loads(line.text) for line in lines(EventLog(log))]
    run_of = {}
    held: defaultdict[str, float] = defaultdict(float)
    for event in events:
        if event["Event"] == "SparkListenerStageSubmitted" and "streaming.sql.batchId" in event["Properties"]:
            properties = event["Properties"]
            run_of[event["Stage Info"]["Stage ID"]] = (
                properties["spark.jobGroup.id"],
                properties["streaming.sql.batchId"],
            )
    ended = {
        (event["progress"]["runId"], str(event["progress"]["batchId"])): event["progress"]["id"]
        for event in events
        if event["Event"].endswith("QueryProgressEvent")
    }
    completed = {
        event["Stage Info"]["Stage ID"] for event in events if event["Event"] == "SparkListenerStageCompleted"
    }  # fmt: skip
    for event in events:
        if event["Event"] != "SparkListenerTaskEnd" or event["Stage ID"] not in completed:
            continue
        query = ended.get(run_of.get(event["Stage ID"], ("", "")))
        batch = run_of.get(event["Stage ID"], ("", "0"))[1]
        metrics = event.get("Task Metrics")
        if query is not None and int(batch) >= WARM_UP and metrics is not None:
            waited = metrics["Shuffle Read Metrics"]["Fetch Wait Time"]
            held[query] += (metrics["Executor Run Time"] + metrics["Executor Deserialize Time"] - waited) / 1e3
    history = read_history(EventLog(log), SLO)
    assert {query.id: query.task_seconds for query in history.queries.values()} == pytest.approx(dict(held), abs=0.02)


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.name)
def test_a_log_tells_nothing_of_the_machine_that_wrote_it(log: Path) -> None:
    text = b"\n".join(line.text for line in lines(EventLog(log))).decode()
    assert not re.findall(r"(?<![\w.:/-])/(?:tmp|root|home|work|usr|opt)\b[^\"\\ ]*", text)
    assert set(re.findall(r'"Host":"([^"]*)"', text)) <= {"host"}
    assert set(re.findall(r"\b(?:\d{1,3}\.){3}\d{1,3}\b", text)) <= {"127.0.0.1"}


def test_a_job_on_executors_that_reads_kafka() -> None:
    """Three executors of two cores, eight partitions, a trigger of five seconds: `write_kafka_log.py`."""
    history = read_history(EventLog(named("4.3", "kafka")), SLO)
    (query,) = history.queries.values()
    assert not history.core_time.local
    assert (history.core_time.executors, history.core_time.cores, history.core_time.cores_each) == (3, 6, 2)
    assert query.core_seconds == pytest.approx(6 * query.seconds)
    assert query.usual_tasks == 8
    assert query.trigger_seconds == pytest.approx(5, abs=0.1)
    assert query.sources_without_lag == ()
    assert query.highest_lag is not None
    assert query.cost.estimate is not None
    assert query.cost.estimate.best.per_record > 0.003  # each record sleeps for 3 ms
