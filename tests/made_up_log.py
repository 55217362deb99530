"""Writes an event log of a job whose costs are known exactly, in the lines that Spark writes, as far as they matter.

Real logs show that lines are read as Spark writes them; this shows that what is worked out from them is right, over
days that no test can wait for.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

BEGAN = 1_790_000_000.0
TASK_PADDING = "x" * 2000
"""A line about a task has some thousand characters of sums."""


@dataclass(frozen=True)
class MadeUpJob:
    """A query that reads one topic of Kafka, on executors that never change.

    rate      records per second that come, at a number of seconds after the beginning
    fixed     slot-seconds that every batch takes, `per_record` those of a record, `overhead` seconds of the driver
    tasks     tasks of its one stage
    limit     records that a batch takes at most
    task_lines  whether the log has lines about single tasks
    """

    rate: Callable[[float], float] = lambda t: 1000.0
    seconds: float = 600.0
    trigger: float = 10.0
    executors: int = 4
    cores: int = 2
    tasks: int = 64
    fixed: float = 0.8
    per_record: float = 0.001
    overhead: float = 0.5
    limit: float = math.inf
    name: str = "clicks"
    application: str = "app-1"
    task_lines: bool = False
    began: float = BEGAN

    def write(self, path: Path) -> Path:
        with path.open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(event, separators=(",", ":")) + "\n" for event in self.events())
        return path

    def events(self) -> Iterator[dict[str, Any]]:
        yield {"Event": "SparkListenerLogStart", "Spark Version": "4.3.0"}
        yield {"Event": "SparkListenerEnvironmentUpdate", "Spark Properties": {"spark.master": "spark://host:7077"}}
        yield {
            "Event": "SparkListenerApplicationStart", "App Name": "made up", "App ID": self.application,
            "Timestamp": _ms(self.began), "User": "user",
        }  # fmt: skip
        for number in range(self.executors):
            yield {
                "Event": "SparkListenerExecutorAdded", "Timestamp": _ms(self.began), "Executor ID": str(number),
                "Executor Info": {"Host": "host", "Total Cores": self.cores},
            }  # fmt: skip
        ids = {"id": f"{self.name}-id", "runId": f"{self.name}-run", "name": self.name}
        yield {"Event": f"{STREAMING}QueryStartedEvent", **ids, "timestamp": _stamp(self.began), "jobTags": []}
        t = end = 0.0
        taken, number = 0, 0
        slots = self.executors * self.cores
        arrived, upto = 0.0, 0.0
        while t < self.seconds:
            step = max(1, math.ceil((t - upto) / 5.0))
            for part in range(step):
                arrived += self.rate(upto + (part + 0.5) * (t - upto) / step) * (t - upto) / step
            upto = t
            records = int(min(arrived - taken, self.limit))
            stage = (self.fixed + self.per_record * records) * math.ceil(self.tasks / slots) / self.tasks
            yield from self._batch(number, self.began + t, records, taken, int(arrived), stage, ids)
            taken += records
            number += 1
            end = t + stage + self.overhead
            t = max(end, self.trigger * (math.floor(t / self.trigger) + 1) if self.trigger else end)
        yield {"Event": "SparkListenerApplicationEnd", "Timestamp": _ms(self.began + end)}

    def _batch(
        self, number: int, t: float, records: int, before: int, latest: int, stage: float, ids: dict[str, str]
    ) -> Iterator[dict[str, Any]]:
        held = self.fixed + self.per_record * records
        begun = t + self.overhead / 2
        info = {
            "Stage ID": number, "Stage Attempt ID": 0, "Stage Name": "start", "Number of Tasks": self.tasks,
            "Submission Time": _ms(begun),
        }  # fmt: skip
        properties = {"spark.jobGroup.id": ids["runId"], "streaming.sql.batchId": str(number)}
        yield {"Event": "SparkListenerStageSubmitted", "Stage Info": info, "Properties": properties}
        for task in range(self.tasks if self.task_lines else 0):
            yield {
                "Event": "SparkListenerTaskEnd",
                "Stage ID": number,
                "Task Info": {"Task ID": task, "Sums": TASK_PADDING},
            }
        sums = {"executorDeserializeTime": 0, "executorRunTime": _ms(held), "shuffle.read.fetchWaitTime": 0}
        accumulables = [
            {"ID": place, "Name": f"internal.metrics.{name}", "Value": value, "Internal": True}
            for place, (name, value) in enumerate(sums.items())
        ]
        ended = {**info, "Completion Time": _ms(begun + stage), "Accumulables": accumulables}
        yield {"Event": "SparkListenerStageCompleted", "Stage Info": ended}
        seconds = stage + self.overhead
        source = {
            "description": "KafkaV2[Subscribe[clicks]]", "startOffset": _offset(before) if number else None,
            "endOffset": _offset(before + records), "latestOffset": _offset(latest), "numInputRows": records,
        }  # fmt: skip
        progress = {
            **ids, "timestamp": _stamp(t), "batchId": number, "batchDuration": _ms(seconds),
            "durationMs": {"triggerExecution": _ms(seconds), "addBatch": _ms(stage)}, "eventTime": {},
            "stateOperators": [], "sources": [source], "sink": {"description": "noop"},
        }  # fmt: skip
        yield {"Event": f"{STREAMING}QueryProgressEvent", "progress": progress}


STREAMING = "org.apache.spark.sql.streaming.StreamingQueryListener$"


def _ms(seconds: float) -> int:
    return round(1e3 * seconds)


def _stamp(t: float) -> str:
    return datetime.fromtimestamp(t, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _offset(records: int) -> str:
    return json.dumps({"clicks": {"0": records}})


def daily(peak: float) -> Callable[[float], float]:
    """A day that is quiet at its beginning and has its peak after twelve hours."""
    return lambda t: peak * (0.2 + 0.8 * (1 - math.cos(2 * math.pi * t / 86_400)) / 2)


def two_peaks(t: float) -> float:
    """A day with a peak at noon and a higher one in the evening, after a quiet night."""
    hour = t / 3600 % 24
    return 1500 + 9000 * math.exp(-(((hour - 12.5) / 2) ** 2)) + 14_000 * math.exp(-(((hour - 20) / 1.6) ** 2))


EXAMPLE = MadeUpJob(rate=two_peaks, seconds=31 * 3600, trigger=15.0, executors=5, cores=4, tasks=96, fixed=1.5)
"""The log in `examples/event-log`: run this file to write it again."""

if __name__ == "__main__":
    import pyarrow as pa

    folder = Path(__file__).parent.parent / "examples" / "event-log"
    folder.mkdir(parents=True, exist_ok=True)
    with pa.CompressedOutputStream(str(folder / "app-1.zstd"), "zstd") as file:
        for made_up in EXAMPLE.events():
            file.write(json.dumps(made_up, separators=(",", ":")).encode() + b"\n")
