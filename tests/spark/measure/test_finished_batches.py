from __future__ import annotations

from typing import Any

import pytest

from penstock.spark.measure.finished_batches import batch_of, lag_of


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


def progress(*sources: dict[str, Any]) -> dict[str, Any]:
    return {
        "batchId": 6,
        "timestamp": "2026-11-15T23:59:31.208Z",
        "numInputRows": 498,
        "durationMs": {"triggerExecution": 2183, "addBatch": 1901},
        "sources": sources,
    }


def test_a_progress_event_is_read_in_our_words() -> None:
    batch = batch_of(progress(kafka(end=20, latest=70, rows=20)))
    assert (batch.number, batch.rows, batch.seconds, batch.lag) == (6, 498, 2.183, 50)
    assert batch.end - batch.start == pytest.approx(2.183)
    assert batch.silent == ()


def test_one_source_that_does_not_report_its_lag_hides_that_of_the_job_and_is_named() -> None:
    batch = batch_of(progress(kafka(end=20, latest=70, rows=20), RATE))
    assert batch.lag is None
    assert batch.silent == ("RateStreamV2",)


def test_offsets_that_count_something_else_are_turned_into_records() -> None:
    assert lag_of({**RATE, "latestOffset": 6}) == 20  # two steps of ten records each


def test_markers_in_a_topic_are_not_taken_for_records() -> None:
    assert lag_of(kafka(end=20, latest=40, rows=10)) == 10


def test_the_first_batch_has_no_start_but_kafka_counts_records_anyway() -> None:
    assert lag_of(kafka(start=None, end=20, latest=70, rows=20)) == 50
    assert lag_of({**RATE, "startOffset": None, "latestOffset": 9}) is None


def test_a_source_that_was_emptied_has_no_lag() -> None:
    assert lag_of(kafka(end=20, latest=20, rows=0, start=20)) == 0


@pytest.mark.parametrize("offset", [None, "opaque", {"file": "a.parquet"}, {}])
def test_an_offset_that_is_no_number_says_nothing(offset: object) -> None:
    assert lag_of({**RATE, "latestOffset": offset}) is None
