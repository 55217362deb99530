"""Each way to run a job is told from nothing to `active`, with what trials by hand showed to be missing."""

from __future__ import annotations

import pytest

from pages import ROOT, blocks, read

JOB, PIPELINE, QUERY = (
    f"docs/how-to/{page}.md"
    for page in ("put-penstock-into-your-job", "run-a-pipeline-on-spark", "rescale-a-stateful-query")
)


def test_the_page_shows_the_example_as_it_is() -> None:
    example = (ROOT / "examples" / "watched_job.py").read_text(encoding="utf-8")
    assert example in [block.text for block in blocks(read(JOB)) if block.kind == "python"]


@pytest.mark.parametrize(
    ("page", "shown"),
    [
        (JOB, "python -m penstock.testbed.standalone"),
        (JOB, "python -m penstock.testbed.broker lines"),
        (JOB, "structured_kafka_wordcount.py"),
        (JOB, "--quick"),
        (JOB, "atexit.register(lambda: print(watched.report()))"),
        (PIPELINE, 'mode="monitor"'),
        (PIPELINE, "print(running.report())"),
        (PIPELINE, 'running.mode = "active"'),
        (PIPELINE, "executors=(1, 3)"),
        (PIPELINE, "connector_jars()"),
        (PIPELINE, "delete_topics(internal)"),
        (QUERY, 'mode="monitor"'),
        (QUERY, "print(job.report())"),
        (QUERY, 'job.mode = "active"'),
    ],
)
def test_a_block_shows_it(page: str, shown: str) -> None:
    assert any(shown in block.text for block in blocks(read(page)))


@pytest.mark.parametrize(
    ("page", "told"),
    [
        (JOB, '`watched.mode = "active"`'),
        (JOB, "`kill -USR2 PID`"),
        (PIPELINE, '`kafka("clicks", servers=..., startingOffsets="latest")`'),
        (PIPELINE, "as one JSON object"),
        (PIPELINE, "penstock-<pipeline>-<operator>-"),
        (QUERY, "save it as `clicks.py`"),
    ],
)
def test_the_text_tells_it(page: str, told: str) -> None:
    assert told in read(page)
