"""Of the pages that Spark writes about a failure, one line is kept: the one that says what went wrong."""

from __future__ import annotations

import pytest

from penstock.model import PenstockError
from penstock.spark.failure import in_one_line

STAGE = """An error occurred while calling o64.save.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 3.0 failed 1 times, most recent \
failure: Lost task 0.0 in stage 3.0 (TID 5) (127.0.0.1 executor driver): java.lang.IllegalStateException: no such page
\tat org.apache.spark.Nowhere.run(Nowhere.scala:1)

Driver stacktrace:
\tat org.apache.spark.Nowhere.run(Nowhere.scala:2)"""
STAGE_OF_WORKERS = """An error occurred while calling o64.save.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 3.0 failed 1 times, most recent \\
failure: Lost task 0.0 in stage 3.0 (TID 5) (127.0.0.1 executor driver): org.apache.spark.api.python.PythonException: \\
Traceback (most recent call last):
  File "job.py", line 7, in score
KeyError: 'page'

\\tat org.apache.spark.Nowhere.run(Nowhere.scala:1)"""
CALL = """An error occurred while calling o64.start.
: java.util.concurrent.TimeoutException: Timed out waiting for a node assignment.
\tat org.apache.kafka.Nowhere.run(Nowhere.java:1)"""
WORKER = """
  An exception was thrown from the Python worker. Please see the stack trace below.
Traceback (most recent call last):
  File "job.py", line 7, in score
    yield frame.assign(n=int("x"))
ValueError: invalid literal for int() with base 10: 'x'
 SQLSTATE: 39000 SQLSTATE: XXKST
=== Streaming Query ===
Identifier: m
Note: not this one"""
QUERY = "[STREAM_FAILED] Query [id = 1-2, runId = 3-4] terminated with exception: no more slots. SQLSTATE: XXKST"


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (STAGE, "java.lang.IllegalStateException: no such page"),
        (STAGE_OF_WORKERS, "KeyError: 'page'"),
        (CALL, "java.util.concurrent.TimeoutException: Timed out waiting for a node assignment"),
        (WORKER, "ValueError: invalid literal for int() with base 10: 'x'"),
        (QUERY, "no more slots"),
        (ConnectionError("it is away\nfor a while"), "ConnectionError: it is away"),
        (PenstockError("the sink is full"), "the sink is full"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
    ],
)
def test_the_line_that_says_what_went_wrong(error: BaseException | str, line: str) -> None:
    assert in_one_line(error) == line
