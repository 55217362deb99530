"""What Spark and Kafka answer, and what they might: a figure, "not known", or one line that names the field."""

from __future__ import annotations

from concurrent.futures import Future
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuzz import STRANGE, is_a_figure, mutated, refused_in_one_line
from penstock.model import InvalidValueError
from penstock.spark.measure.progress import position, read_progress
from penstock.spark.measure.stages import read_stage
from penstock.spark.topics import offsets as module
from penstock.spark.topics.offsets import Offsets

PROGRESS = {
    "id": "5c30", "runId": "b06c45c0", "name": "clicks", "timestamp": "2026-11-15T23:59:31.208Z", "batchId": 6,
    "batchDuration": 2183, "numInputRows": 20, "inputRowsPerSecond": 9.1, "processedRowsPerSecond": 9.3,
    "durationMs": {"triggerExecution": 2183, "addBatch": 1901},
    "stateOperators": [],
    "sources": [
        {
            "description": "KafkaV2[Subscribe[in]]", "numInputRows": 20, "inputRowsPerSecond": 9.1,
            "startOffset": {"in": {"0": 5, "1": 0}}, "endOffset": {"in": {"0": 20, "1": 5}},
            "latestOffset": {"in": {"0": 70, "1": 5}}, "metrics": {"avgOffsetsBehindLatest": "1.0"},
        },
        {"description": "RateStreamV2", "startOffset": 3, "endOffset": 4, "latestOffset": None, "numInputRows": 10},
    ],
    "sink": {"description": "KafkaSink", "numOutputRows": -1},
}  # fmt: skip

STAGE = {
    "status": "COMPLETE", "stageId": 7, "attemptId": 0, "numTasks": 4, "executorRunTime": 1200,
    "executorCpuTime": 800_000_000, "executorDeserializeTime": 30, "shuffleFetchWaitTime": 10, "inputRecords": 0,
    "shuffleReadRecords": 1000, "outputRecords": 0, "shuffleWriteRecords": 1000, "submissionTime": 1794884588388,
    "completionTime": 1794884589388,
}  # fmt: skip


@settings(max_examples=400)
@given(event=mutated(PROGRESS))
def test_a_progress_event_is_understood_or_refused_by_the_name_of_its_field(event: Any) -> None:
    with refused_in_one_line(InvalidValueError, about="Spark's progress"):
        batch = read_progress(event)
        assert all(map(is_a_figure, (batch.seconds, batch.records, batch.lag)))
        assert batch.end >= batch.start


def test_a_field_of_a_later_spark_is_passed_over() -> None:
    assert read_progress({**PROGRESS, "newField": {"x": 1}}) == read_progress(PROGRESS)


@given(offset=mutated(PROGRESS["sources"][0]["endOffset"]))  # type: ignore[index]
def test_an_offset_that_is_no_number_has_no_position(offset: Any) -> None:
    assert is_a_figure(position(offset))


def test_the_sentinels_of_kafka_are_no_positions() -> None:
    assert position({"in": {"0": 5, "1": -1001}}) is None
    assert position({"in": {"0": -2}}) is None


@settings(max_examples=200)
@given(stage=mutated(STAGE))
def test_a_stage_is_understood_or_not_known(stage: Any) -> None:
    read = read_stage(stage) if isinstance(stage, dict) else None
    if read is not None:
        assert all(map(is_a_figure, (read.held_seconds, read.useful_seconds, read.cpu_seconds, read.seconds)))
        assert all(map(is_a_figure, (read.records_in, read.records_out)))


def test_a_stage_without_a_figure_is_not_a_stage_that_took_no_time() -> None:
    assert read_stage({**STAGE, "executorRunTime": None}) is None
    assert read_stage({name: value for name, value in STAGE.items() if name != "executorCpuTime"}) is None


@settings(max_examples=100)
@given(answers=st.lists(st.integers() | st.sampled_from(STRANGE), min_size=1, max_size=4))
def test_lengths_of_topics_are_counts_or_not_known(answers: list[Any]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "AdminClient", lambda settings: _Client(answers))
        found = Offsets("nobody:9092").ends(["clicks"])
    if found is not None:
        assert found["clicks"] >= 0
        assert all(type(answer) is int and answer >= 0 for answer in answers)


class _Client:
    """Answers as librdkafka's client does, whatever it was told to."""

    def __init__(self, offsets: list[Any]) -> None:
        self.offsets = offsets

    def describe_topics(self, topics: object, *, request_timeout: float) -> dict[str, Future[Any]]:
        return {"clicks": _answered(SimpleNamespace(partitions=self.offsets))}

    def list_offsets(self, requests: Any, *, request_timeout: float) -> dict[Any, Future[Any]]:
        return {place: _answered(SimpleNamespace(offset=self.offsets[place.partition])) for place in requests}


def _answered(value: object) -> Future[Any]:
    future: Future[Any] = Future()
    with suppress(Exception):
        future.set_result(value)
    return future
