"""How long a query's tasks worked on each batch, from the metrics of its stages. Read on the driver, UI or not."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from pyspark import SparkContext


@dataclass(frozen=True, slots=True)
class Work:
    """What the stages of a batch add up to.

    slot_seconds   time that slots were held, without waiting for shuffled data
    stage_seconds  time during which a stage ran at all; the rest of a batch is planning and committing
    most_tasks     tasks of the widest stage: more slots than that had nothing to do
    """

    slot_seconds: float = 0.0
    stage_seconds: float = 0.0
    most_tasks: int = 0

    def __add__(self, other: Work) -> Work:
        return Work(
            self.slot_seconds + other.slot_seconds,
            self.stage_seconds + other.stage_seconds,
            max(self.most_tasks, other.most_tasks),
        )


class StageWork:
    """The jobs that Spark runs for one query carry its run as their group, and their batch in their description."""

    def __init__(self, context: SparkContext, run: str) -> None:
        self._tracker = context.statusTracker()
        self._store = context._jsc.sc().statusStore()
        self._run = run

    def of(self, first: int, last: int) -> dict[int, Work]:
        """The work on the batches from `first` to `last`; without those that Spark has already forgotten."""
        found: dict[int, Work] = {}
        for job in sorted(self._tracker.getJobIdsForGroup(self._run), reverse=True):
            data = self._store.job(job)
            batch = batch_number(data.description().get()) if data.description().isDefined() else None
            if batch is None or batch > last:
                continue
            if batch < first:
                break
            found[batch] = found.get(batch, Work()) + self._of_job(data)
        return found

    def _of_job(self, job: Any) -> Work:
        stages = job.stageIds()
        attempts = (self._store.lastStageAttempt(stages.apply(i)) for i in range(stages.size()))
        return sum((_of_stage(stage) for stage in attempts if stage.completionTime().isDefined()), Work())


def _of_stage(stage: Any) -> Work:
    held = stage.executorDeserializeTime() + stage.executorRunTime() - stage.shuffleFetchWaitTime()
    lasted = stage.completionTime().get().getTime() - stage.submissionTime().get().getTime()
    return Work(max(0, held) / 1e3, max(0, lasted) / 1e3, stage.numTasks())


def batch_number(description: str) -> int | None:
    """
    >>> batch_number("clicks\\nid = 5c30\\nrunId = c07a\\nbatch = 6"), batch_number("count at app.py:7")
    (6, None)
    """
    found = re.search(r"^batch = (\d+)$", description, re.M)
    return int(found[1]) if found else None
