"""Metrics, the page and the log of decisions beside a job on Spark, and beside a job that does not start."""

from __future__ import annotations

import json
import logging
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock import Slo
from penstock.control.assembly import Steering
from penstock.load.curves import constant
from penstock.metrics.server import MetricsServer
from penstock.model import InvalidValueError
from penstock.spark import Pipeline, files, replay
from penstock.spark.observers import Observers
from penstock.stores.memory import MemoryStore
from spark_jobs import as_text, until


def read(address: str) -> str:
    with urllib.request.urlopen(address) as answer:
        return str(answer.read().decode())


@pytest.mark.spark
def test_a_pipeline_serves_its_metrics_its_page_and_its_decisions(
    spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    decisions = logging.getLogger("penstock.decisions")
    lines: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(record.getMessage())  # type: ignore[method-assign]
    decisions.addHandler(handler)
    decisions.setLevel(logging.INFO)
    pipeline = Pipeline("seen", source=replay(constant(50.0, 3_600.0)))
    pipeline.operator("only", as_text, max=4)
    pipeline.sink(files(str(tmp_path / "out"), "json"), after="only")
    try:
        with pipeline.start(
            spark, slo=Slo(event_latency="5 s"), checkpoint=str(tmp_path / "checkpoint"), store="memory",
            interval="500 ms", batch="200 ms", metrics_port=0, dashboard=True,
        ) as job:  # fmt: skip
            port, page = job.observers.metrics_port, job.observers.dashboard_url
            assert page is not None
            rate = f'penstock_input_records_per_second{{application_id="{spark.sparkContext.applicationId}"'
            until(lambda: rate in read(f"http://127.0.0.1:{port}/metrics"), "the rate in the metrics", job)
            assert "penstock_controller_up" in read(f"http://127.0.0.1:{port}/metrics")
            until(lambda: json.loads(read(f"{page}api/jobs"))["jobs"], "the job on the page", job)
            shown = json.loads(read(f"{page}api/job?job=seen"))
            assert shown["description"]["order"] == ["only"]
            assert not shown["simulated"]
            assert "decision" in job._repr_html_()
    finally:
        decisions.removeHandler(handler)
        decisions.setLevel(logging.NOTSET)
    said = [json.loads(line) for line in lines]
    assert {line["query_name"] for line in said} == {"seen"}
    assert {line["application_id"] for line in said} == {spark.sparkContext.applicationId}
    for address in (f"http://127.0.0.1:{port}/metrics", page):
        with pytest.raises(urllib.error.URLError):
            read(address)


def test_a_page_without_a_store_keeps_its_history_in_a_file_that_goes_with_it() -> None:
    observers = Observers(Steering(dashboard=True, metrics_port=0), None)
    assert isinstance(observers.store, str)
    file = Path(observers.store.removeprefix("sqlite:///"))
    assert file.exists()
    observers.close()
    assert not file.parent.exists()
    assert observers.metrics_port not in MetricsServer._open


def test_a_page_needs_a_store_that_it_can_read_and_leaves_no_port_open() -> None:
    before = dict(MetricsServer._open)
    with pytest.raises(InvalidValueError, match=r"^dashboard needs a store by its URL"):
        Observers(Steering(dashboard=True, metrics_port=0), MemoryStore())
    assert MetricsServer._open == before
