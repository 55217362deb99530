"""What Spark's own event log says of executors: the other side of a comparison, read without any code of Penstock."""

from __future__ import annotations

import json
from pathlib import Path


def event_log_settings(folder: Path) -> dict[str, str]:
    """One file in plain text for each application, in this folder."""
    folder.mkdir(parents=True)
    return {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": folder.as_uri(),
        "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false",
    }


def core_seconds(folder: Path, since: float, until: float) -> float:
    """What the executors of the one application in the folder cost between two moments, in Unix seconds."""
    [log] = folder.iterdir()
    there: dict[str, tuple[float, int]] = {}
    total = 0.0
    for event in map(json.loads, log.read_text(encoding="utf-8").splitlines()):
        if event["Event"] == "SparkListenerExecutorAdded":
            there[event["Executor ID"]] = (event["Timestamp"] / 1e3, event["Executor Info"]["Total Cores"])
        elif event["Event"] == "SparkListenerExecutorRemoved" and event["Executor ID"] in there:
            added, cores = there.pop(event["Executor ID"])  # one that was decommissioned is removed twice
            total += cores * _overlap(added, event["Timestamp"] / 1e3, since, until)
    return total + sum(cores * _overlap(added, until, since, until) for added, cores in there.values())


def _overlap(begin: float, end: float, since: float, until: float) -> float:
    return max(0.0, min(end, until) - max(begin, since))
