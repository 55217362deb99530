"""Reads the events of a log that tell what a streaming job did, and passes over all others.

Nine of ten lines tell of single tasks. They are not read: when a stage has ended, Spark writes the sums over its tasks.
Lines about stages are long, and most of what they say is not needed: their figures are picked out without reading all
of the JSON. That is exact, as a quotation mark inside a string of JSON has a backslash before it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from penstock.advise.lines import Line, lines
from penstock.advise.log_files import BrokenLogError, EventLog
from penstock.model import InvalidValueError
from penstock.spark.measure.progress import BatchProgress, read_progress
from penstock.spark.measure.stages import Stage

PREFIX = b'{"Event":"'
STREAMING = "org.apache.spark.sql.streaming.StreamingQueryListener$"

STAGE = re.compile(rb'"Stage ID":(\d+),"Stage Attempt ID":(\d+)')
RUN = re.compile(rb'"spark\.jobGroup\.id":"([^"]*)"')
BATCH = re.compile(rb'"streaming\.sql\.batchId":"(\d+)"')
LONG_RUNNING = re.compile(rb'\\"name\\":\\"(RealTimeStream|Continuous)Scan')
TASKS = re.compile(rb'"Number of Tasks":(\d+)')
TIMES = re.compile(rb'"(Submission|Completion) Time":(\d+)')
SUMS = re.compile(
    rb'"Name":"internal\.metrics\.(executorRunTime|executorDeserializeTime|executorCpuTime|shuffle\.read\.fetchWaitTime)"'
    rb',"Value":"?(\d+)'
)

StageKey = tuple[int, int]
"""A stage and its attempt."""


@dataclass(frozen=True, slots=True)
class LogStarted:
    version: str


@dataclass(frozen=True, slots=True)
class SettingsRead:
    """The settings of Spark that the application has."""

    settings: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ApplicationStarted:
    t: float
    id: str
    name: str


@dataclass(frozen=True, slots=True)
class ApplicationEnded:
    t: float


@dataclass(frozen=True, slots=True)
class ExecutorAdded:
    t: float
    id: str
    cores: int


@dataclass(frozen=True, slots=True)
class ExecutorRemoved:
    t: float
    id: str


@dataclass(frozen=True, slots=True)
class StageStarted:
    """A stage of a batch; of a job that belongs to no query if `run` is empty.

    `long_running`: it runs as long as the batch, whether records come or not, as in real-time mode.
    """

    key: StageKey
    run: str
    batch: int
    long_running: bool = False


@dataclass(frozen=True, slots=True)
class StageEnded:
    key: StageKey
    stage: Stage


@dataclass(frozen=True, slots=True)
class QueryStarted:
    t: float
    query: str
    run: str
    name: str | None


@dataclass(frozen=True, slots=True)
class QueryIdle:
    """Nothing came up to this time."""

    t: float
    query: str


@dataclass(frozen=True, slots=True)
class BatchEnded:
    """A batch of a query; one that only looked for records and found none has not `ran`."""

    query: str
    name: str | None
    progress: BatchProgress
    ran: bool


Event = (
    LogStarted | SettingsRead | ApplicationStarted | ApplicationEnded | ExecutorAdded | ExecutorRemoved | StageStarted
    | StageEnded | QueryStarted | QueryIdle | BatchEnded
)  # fmt: skip


def events(log: EventLog, on_bytes: Callable[[int], None] = lambda read: None) -> Iterator[Event]:
    """The events of a log in its order; a last line that is cut off is left out.

    `on_bytes` is called now and then with how many bytes were read of it.
    """
    for count, line in enumerate(lines(log)):
        if count % 1000 == 0:
            on_bytes(line.bytes)
        event = _read(line, first=count == 0)
        if event is not None:
            yield event


def _read(line: Line, first: bool) -> Event | None:
    end = line.text.find(b'"', len(PREFIX)) if line.text.startswith(PREFIX) and line.text.endswith(b"}") else -1
    if end < 0:
        if line.last and not first:
            return None
        raise BrokenLogError(line.file, line.number, _complaint(line.text, first))
    name = line.text[len(PREFIX) : end].decode(errors="replace")
    if first and name != "SparkListenerLogStart":
        raise BrokenLogError(line.file, line.number, "an event log of Spark begins with SparkListenerLogStart")
    reader = READERS.get(name)
    if reader is None:
        return None
    try:
        return reader(line.text)
    except InvalidValueError as error:
        raise BrokenLogError(line.file, line.number, str(error)) from None
    except (ValueError, TypeError, AttributeError):
        if line.last:
            return None
        raise BrokenLogError(line.file, line.number, f"the event {name} is not as Spark writes it") from None
    except KeyError as error:
        raise BrokenLogError(line.file, line.number, f"the event {name} has no {error.args[0]}") from None


def _complaint(text: bytes, first: bool) -> str:
    if first:
        return "it is not an event log of Spark: the first line is not an event"
    try:
        json.loads(text)
    except ValueError as error:
        return f"the line is not JSON: {error.msg if isinstance(error, json.JSONDecodeError) else 'no text'}"
    return "the line is not an event"


def _as_json(read: Callable[[Any], Event | None]) -> Callable[[bytes], Event | None]:
    return lambda text: read(json.loads(text))


def _stage_started(text: bytes) -> StageStarted:
    run, batch = RUN.search(text), BATCH.search(text)
    if run is None or batch is None:
        return StageStarted(_key(text), "", -1)
    return StageStarted(_key(text), run[1].decode(), int(batch[1]), LONG_RUNNING.search(text) is not None)


def _stage_ended(text: bytes) -> StageEnded:
    sums = {name: int(value) for name, value in SUMS.findall(text, max(0, text.find(b'"Accumulables":[{')))}
    times = {which: int(t) / 1e3 for which, t in TIMES.findall(text)}
    tasks = TASKS.search(text)
    if tasks is None:
        raise KeyError("Number of Tasks")
    submitted = times.get(b"Submission", times.get(b"Completion", 0.0))
    return StageEnded(
        _key(text),
        Stage(
            tasks=int(tasks[1]),
            run_seconds=sums.get(b"executorRunTime", 0) / 1e3,
            records_in=0,
            records_out=0,
            deserialise_seconds=sums.get(b"executorDeserializeTime", 0) / 1e3,
            fetch_wait_seconds=sums.get(b"shuffle.read.fetchWaitTime", 0) / 1e3,
            cpu_seconds=sums.get(b"executorCpuTime", 0) / 1e9,
            submitted=submitted,
            completed=times.get(b"Completion", submitted),
        ),
    )


def _key(text: bytes) -> StageKey:
    found = STAGE.search(text)
    if found is None:
        raise KeyError("Stage ID")
    return int(found[1]), int(found[2])


def _batch_ended(event: Any) -> BatchEnded:
    progress = event["progress"]
    # In a log, offsets are JSON inside a string of JSON.
    sources = [{**source, **{f: _offset(source.get(f)) for f in OFFSETS}} for source in progress["sources"]]
    return BatchEnded(
        query=progress["id"],
        name=progress["name"],
        progress=read_progress({**progress, "sources": sources}),
        ran="addBatch" in progress["durationMs"],
    )


OFFSETS = ("startOffset", "endOffset", "latestOffset")


def _offset(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


def _seconds(stamp: str) -> float:
    return datetime.fromisoformat(stamp).timestamp()


READERS: Mapping[str, Callable[[bytes], Event | None]] = {
    "SparkListenerLogStart": _as_json(lambda e: LogStarted(e["Spark Version"])),
    "SparkListenerEnvironmentUpdate": _as_json(lambda e: SettingsRead(dict(e["Spark Properties"]))),
    "SparkListenerApplicationStart": _as_json(
        lambda e: ApplicationStarted(e["Timestamp"] / 1e3, e.get("App ID") or "", e["App Name"])
    ),
    "SparkListenerApplicationEnd": _as_json(lambda e: ApplicationEnded(e["Timestamp"] / 1e3)),
    "SparkListenerExecutorAdded": _as_json(
        lambda e: ExecutorAdded(e["Timestamp"] / 1e3, e["Executor ID"], e["Executor Info"]["Total Cores"])
    ),
    "SparkListenerExecutorRemoved": _as_json(lambda e: ExecutorRemoved(e["Timestamp"] / 1e3, e["Executor ID"])),
    "SparkListenerStageSubmitted": _stage_started,
    "SparkListenerStageCompleted": _stage_ended,
    f"{STREAMING}QueryStartedEvent": _as_json(
        lambda e: QueryStarted(_seconds(e["timestamp"]), e["id"], e["runId"], e["name"])
    ),
    f"{STREAMING}QueryIdleEvent": _as_json(lambda e: QueryIdle(_seconds(e["timestamp"]), e["id"])),
    f"{STREAMING}QueryProgressEvent": _as_json(_batch_ended),
}
