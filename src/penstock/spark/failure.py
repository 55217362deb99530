"""What ended a job, in one sentence, where Spark writes pages: a stack trace, a plan, the traceback of a worker."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql.streaming.query import StreamingQuery

from penstock.model import PenstockError
from penstock.model.secrets import without_secrets


class JobFailedError(PenstockError):
    """A job that failed, again and again where that could help, and was given up."""


_STATE = re.compile(r"\s*SQLSTATE: \w+;?")
_QUERY = re.compile(r"^\[STREAM_FAILED\] Query \[.*?\] terminated with exception: ")
_TASK = re.compile(r"most recent failure: Lost task [^\n]*?\): ([^\n]+)")
_CALL = re.compile(r"^An error occurred while calling [^\n]*\n: ([^\n]+)")
_RAISED = re.compile(r"^(?:\w+\.)*(\w+: \S[^\n]*)$", re.MULTILINE)


def in_one_line(error: BaseException | str) -> str:
    """The line that says what went wrong.

    >>> in_one_line("[USER_RAISED_EXCEPTION] it is bad SQLSTATE: P0001\\n=== Streaming Query ===\\nIdentifier: ...")
    '[USER_RAISED_EXCEPTION] it is bad'
    >>> in_one_line("An exception was thrown from the Python worker:\\nTraceback (most recent call last):\\n"
    ...     '  File "job.py", line 3, in score\\nbuiltins.ValueError: no number: x\\n')
    'ValueError: no number: x'
    """
    text = _STATE.sub("", without_secrets(str(error)).partition("=== Streaming Query ===")[0]).strip()
    if "Traceback (most recent call last)" in text and (raised := _RAISED.findall(text)):
        return _plain(raised[-1])
    if found := _TASK.search(text) or _CALL.search(text):
        return _plain(found[1])
    line = _plain(text.partition("\n")[0])
    if isinstance(error, str | PySparkException | PenstockError):
        return line
    return f"{type(error).__name__}: {line}" if line else type(error).__name__


def _plain(line: str) -> str:
    return _QUERY.sub("", line).strip().rstrip(".;")


def given_up(name: str, times: int, why: str | None, place: str | None) -> str:
    """Why a job ends.

    >>> given_up("parse", 3, "it is bad", "topic clicks, partition 0, offset 7")
    'parse failed 3 times on the same batch: it is bad; the batch is topic clicks, partition 0, offset 7'
    """
    where = "" if place is None else f"; the batch is {place}"
    return f"{name} failed {times} times on the same batch: {why}{where}"


def place_of_failure(query: StreamingQuery) -> str | None:
    """Where the batch lies that a query failed on: what it had to read, as far as Spark says it."""
    failed = query._jsq.exception()
    if not failed.isDefined():
        return None
    return records_between(_offset(failed.get().startOffset()), _offset(failed.get().endOffset()))


def records_between(start: Mapping[str, Any], end: Mapping[str, Any]) -> str | None:
    """The records between two offsets of a source; None where offsets do not count records of partitions.

    >>> records_between({"clicks": {"0": 7, "1": 4, "2": 5}}, {"clicks": {"0": 9, "1": 5, "2": 5}})
    'topic clicks, partition 0, offsets 7 to 8 or partition 1, offset 4'
    >>> records_between({}, {"clicks": {"0": 1}}), records_between({}, {"file": "a"})
    ('topic clicks, partition 0, offset 0', None)
    """
    topics = []
    for topic, partitions in end.items():
        if not isinstance(partitions, Mapping):
            return None
        before = start.get(topic, {})
        spans = [(number, before.get(number, 0), last) for number, last in partitions.items()]
        words = [f"partition {number}, {_span(first, last)}" for number, first, last in spans if last > first]
        topics += [f"topic {topic}, {' or '.join(words)}"] if words else []
    return ", or ".join(topics) or None


def _span(first: int, end: int) -> str:
    return f"offset {first}" if end == first + 1 else f"offsets {first} to {end - 1}"


def _offset(written: str | None) -> Mapping[str, Any]:
    """The offset of the one source in Spark's text, which has its JSON in brackets; empty for a source not yet read.

    >>> _offset('[{"clicks":{"0":7}}]'), _offset("[-]")
    ({'clicks': {'0': 7}}, {})
    """
    text = written or ""
    try:
        read: Mapping[str, Any] = json.JSONDecoder().raw_decode(text, text.index('{"'))[0]
    except ValueError:
        return {}
    return read
