"""What progress events say, and each of them read once."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest

from penstock.spark.measure.progress import BatchProgress, ProgressReader, SourceProgress, read_progress
from penstock.spark.measure.state_progress import StateProgress


def kafka(end: int, latest: int, rows: int, start: int | None = 0) -> dict[str, Any]:
    return {
        "description": "KafkaV2[Subscribe[in]]",
        "startOffset": None if start is None else {"in": {"0": start, "1": 0}},
        "endOffset": {"in": {"0": end, "1": 0}},
        "latestOffset": {"in": {"0": latest, "1": 0}},
        "numInputRows": rows,
        "metrics": {"avgOffsetsBehindLatest": "1.0"},
    }


RATE = {"description": "RateStreamV2", "startOffset": 3, "endOffset": 4, "latestOffset": None, "numInputRows": 10}
REPLAY = {
    "description": "PythonMicroBatchStream@1",
    "startOffset": {"began_ms": 1794884588388, "record": 100},
    "endOffset": {"began_ms": 1794884588388, "record": 150},
    "latestOffset": None,
    "numInputRows": 50,
}


def event(*sources: dict[str, Any], number: int = 6) -> dict[str, Any]:
    return {
        "batchId": number,
        "runId": "b06c45c0",
        "timestamp": "2026-11-15T23:59:31.208Z",
        "numInputRows": sum(source["numInputRows"] for source in sources),
        "batchDuration": 2183,
        "durationMs": {"triggerExecution": 2183, "addBatch": 1901},
        "sources": sources,
    }


def source(given: dict[str, Any]) -> SourceProgress:
    return read_progress(event(given)).sources[0]


def test_a_progress_event_is_read_in_our_words() -> None:
    batch = read_progress(event(kafka(end=20, latest=70, rows=20), RATE | {"latestOffset": 4}))
    assert (batch.number, batch.run, batch.records, batch.seconds, batch.lag) == (6, "b06c45c0", 30, 2.183, 50)
    assert batch.end - batch.start == pytest.approx(2.183)
    assert batch.sources[0].end == {"in": {"0": 20, "1": 0}}
    assert batch.sources_without_lag == ()


def test_what_a_batch_took_is_known_before_spark_reports_it_by_itself() -> None:
    """Events of PySpark 3.5 have it among the parts of the batch only."""
    old = event(kafka(end=20, latest=70, rows=20))
    del old["batchDuration"]
    assert read_progress(old).seconds == 2.183


def test_a_batch_during_which_the_clock_was_set_back_is_read() -> None:
    """Spark takes its length from the wall clock. As an error it would have ended a job in micro-batches."""
    new = event(kafka(end=20, latest=70, rows=20)) | {"batchDuration": -81_374}
    old = event(kafka(end=20, latest=70, rows=20)) | {"durationMs": {"triggerExecution": -81_374}}
    del old["batchDuration"]
    for each in (read_progress(new), read_progress(old)):
        assert (each.records, each.seconds, each.end) == (20, 0.0, each.start)


def test_one_source_that_does_not_report_its_lag_hides_that_of_the_job_and_is_named() -> None:
    batch = read_progress(event(kafka(end=20, latest=70, rows=20), RATE))
    assert batch.lag is None
    assert batch.sources_without_lag == ("RateStreamV2",)


def test_records_that_were_read_twice_count_once() -> None:
    """As measured after an executor was lost."""
    again = source(kafka(start=1_000, end=115_825, latest=115_925, rows=134_049))
    assert (again.records, again.lag) == (114_825, 100)
    assert source(REPLAY | {"numInputRows": 80}).records == 50


def test_offsets_that_count_something_else_are_turned_into_records() -> None:
    counted = source({**RATE, "latestOffset": 6})
    assert (counted.records, counted.lag) == (10, 20)  # two steps of ten records each


def test_markers_in_a_topic_are_not_taken_for_records() -> None:
    marked = source(kafka(end=20, latest=40, rows=10))
    assert (marked.records, marked.lag) == (10, 10)


def test_the_first_batch_has_no_start_but_kafka_counts_records_anyway() -> None:
    first = source(kafka(start=None, end=20, latest=70, rows=20))
    assert (first.records, first.lag) == (20, 50)
    assert source({**RATE, "startOffset": None, "latestOffset": 9}).lag is None


def test_a_source_that_was_emptied_has_no_lag() -> None:
    assert source(kafka(end=20, latest=20, rows=0, start=20)).lag == 0


@pytest.mark.parametrize("offset", [None, "opaque", {"file": "a.parquet"}, {}])
def test_an_offset_that_is_no_number_says_nothing(offset: object) -> None:
    assert source({**RATE, "latestOffset": offset}).lag is None


class Query:
    """A query with the last events that Spark keeps."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self._jsq = self

    def recentProgress(self) -> list[Any]:
        class Event:
            def __init__(self, given: dict[str, Any]) -> None:
                self.batchId = lambda: given["batchId"]
                self.json = lambda: json.dumps(given)

        return [Event(given) for given in self.events[-3:]]

    def ends(self, *numbers: int) -> None:
        self.events += [event(RATE, number=number) for number in numbers]


def numbers(batches: list[BatchProgress]) -> list[int]:
    return [batch.number for batch in batches]


def test_each_batch_is_read_once_and_oldest_first() -> None:
    query = Query()
    reader = ProgressReader(cast("Any", query))
    query.ends(0, 1)
    assert numbers(reader.new()) == [0, 1]
    assert reader.new() == []
    query.ends(2)
    assert numbers(reader.new()) == [2]


def test_a_reader_begins_after_the_batches_that_are_known() -> None:
    query = Query()
    query.ends(4, 5, 6)
    assert numbers(ProgressReader(cast("Any", query), after=5).new()) == [6]


def test_what_spark_has_forgotten_is_left_out() -> None:
    query = Query()
    reader = ProgressReader(cast("Any", query))
    query.ends(*range(9))
    assert numbers(reader.new()) == [6, 7, 8]


def test_the_state_of_all_stateful_steps_is_added_up() -> None:
    steps = [
        {"memoryUsedBytes": 5, "customMetrics": {
            "rocksdbSstFileSize": 70, "rocksdbReadBlockCacheHitCount": 6, "rocksdbReadBlockCacheMissCount": 2,
        }},
        {"memoryUsedBytes": 7, "customMetrics": {"rocksdbSstFileSize": 30}},
    ]  # fmt: skip
    read = read_progress({**event(RATE), "stateOperators": steps}).state
    assert read == StateProgress(bytes=100, memory_bytes=12, hits=6, misses=2)


def test_a_store_without_files_has_memory_only_and_a_query_without_state_has_nothing() -> None:
    steps = [{"memoryUsedBytes": 5, "customMetrics": {"loadedMapCacheHitCount": 3}}]
    assert read_progress({**event(RATE), "stateOperators": steps}).state == StateProgress(None, 5, 0, 0)
    assert read_progress(event(RATE)).state is None
