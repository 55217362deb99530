"""Reads what Spark itself measured of the stages of its jobs: the only place that does. It works with the UI disabled.

Spark's status store keeps the newest jobs and stages, `spark.ui.retainedStages` of them. What it has forgotten is not
known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from penstock.model.errors import LARGEST
from penstock.spark.measure.status_json import StatusJson

if TYPE_CHECKING:
    from pyspark import SparkContext

FILED_WITHIN_SECONDS = 10.0
"""Spark files what it measured of a job a moment after the job has ended, on a busy driver seconds later; longer than
this it is not waited for."""

MOST_TASKS = 200
"""The tasks of a stage are looked at one by one if there are no more: each is a line of half a kilobyte to read."""


@dataclass(frozen=True, slots=True)
class TaskWork:
    """What one task of a stage did: records that it read, and the seconds that it spent on them."""

    records_in: int
    useful_seconds: float


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of a Spark job: sums over its tasks.

    tasks                 how many there were
    run_seconds           seconds that they ran
    records_in            records that they read from a shuffle, or from the source or a kept frame
    records_out           records that they wrote to a shuffle or to a file
    deserialise_seconds   seconds that it took to unpack them, before they ran
    fetch_wait_seconds    seconds of their run time in which they waited for shuffled data
    cpu_seconds           CPU seconds of their run time
    submitted, completed  Unix seconds between which the stage lasted
    by_task               the same task by task, where it was asked for and Spark still knows all of them
    """

    tasks: int
    run_seconds: float
    records_in: int
    records_out: int
    deserialise_seconds: float = 0.0
    fetch_wait_seconds: float = 0.0
    cpu_seconds: float = 0.0
    submitted: float = 0.0
    completed: float = 0.0
    by_task: tuple[TaskWork, ...] = ()

    @property
    def useful_seconds(self) -> float:
        """Seconds spent on records: run time without waiting for the shuffle."""
        return max(0.0, self.run_seconds - self.fetch_wait_seconds)

    @property
    def held_seconds(self) -> float:
        """Seconds for which its tasks held slots, without waiting for the shuffle."""
        return max(0.0, self.deserialise_seconds + self.run_seconds - self.fetch_wait_seconds)

    @property
    def seconds(self) -> float:
        return max(0.0, self.completed - self.submitted)


@dataclass(frozen=True, slots=True)
class JobRange:
    """Spark jobs that were started under one tag, as a range of numbers in which other jobs may stand too."""

    tag: str
    first: int
    end: int


class StageReader:
    """Finds the stages of jobs: by a tag that they were started under, or by the batch of a query that they ran for."""

    def __init__(self, context: SparkContext) -> None:
        self.context = context
        self._scala: Any = context._jsc.sc()
        self._store: Any = self._scala.statusStore()
        self._json = StatusJson(context)

    @contextmanager
    def tagged(self, tag: str) -> Iterator[list[JobRange]]:
        """Everything that this thread runs inside bears the tag; the jobs are in the list when it is over."""
        found: list[JobRange] = []
        first = self.next_job()
        self.context.addJobTag(tag)
        try:
            yield found
        finally:
            self.context.removeJobTag(tag)
            found.append(JobRange(tag, first, self.next_job()))

    def of_jobs(self, jobs: JobRange) -> list[list[Stage]] | None:
        """The stages that each job ran, task by task, parents before children; None if Spark has forgotten one."""
        self._wait_until_filed()
        found = []
        for number in range(jobs.first, jobs.end):
            job = self._job(number)
            if job is None:
                return None
            if jobs.tag in (job.get("jobTags") or ()):
                stages = self._stages(job, by_task=True)
                if stages is None:
                    return None
                found.append(stages)
        return found

    def of_batches(self, run: str, first: int, last: int) -> dict[int, list[Stage]]:
        """The stages of the batches from `first` to `last` of a query's run, parents before children.

        Spark runs the jobs of a query with its run as their group and the batch in their description. Batches of which
        it has forgotten a stage are left out.
        """
        self._wait_until_filed()
        found: dict[int, list[Stage] | None] = {}
        numbers = sorted(self.context.statusTracker().getJobIdsForGroup(run), reverse=True)
        for number in numbers:
            job = self._job(number)
            batch = None if job is None else _batch_of(job)
            if job is None or batch is None or batch > last:
                continue
            if batch < first:
                break
            stages, more = self._stages(job), found.get(batch, [])
            found[batch] = None if stages is None or more is None else [*stages, *more]
        else:
            if found and numbers[-1] > 0 and self._job(numbers[-1] - 1) is None:
                del found[min(found)]  # the jobs before are forgotten, and some of them may have been of this batch
        return {batch: stages for batch, stages in found.items() if stages is not None}

    def so_far(self, run: str, batch: int) -> list[Stage]:
        """The stages of a batch that still runs, with what their finished tasks took. Spark hears of the records of
        running tasks with the heartbeats of executors, every ten seconds unless it was set otherwise."""
        found: list[Stage] = []
        for number in sorted(self.context.statusTracker().getJobIdsForGroup(run), reverse=True):
            job = self._job(number)
            if job is None or _batch_of(job) != batch:
                break
            found[:0] = self._begun(job)
        return found

    def _begun(self, job: dict[str, Any]) -> list[Stage]:
        """The stages of a job that have begun, as far as Spark knows them."""
        known = (self._read(self._store.lastStageAttempt, stage) for stage in sorted(job["stageIds"]))
        begun = (stage for stage in known if stage is not None and stage.get("submissionTime"))
        return [stage for stage in map(read_stage, begun) if stage is not None]

    def next_job(self) -> int:
        """The number of the job that will be started next."""
        number: int = self._scala.dagScheduler().numTotalJobs()
        return number

    def cpu_seconds(self, first: int) -> float | None:
        """CPU seconds of the tasks of all jobs from this number on that have ended; None if one is forgotten.

        Of a job that was stopped, as the batch of a query that is started again, they are those that Spark has counted
        for the stages that had begun.
        """
        self._wait_until_filed()
        found = 0.0
        for number in range(first, self.next_job()):
            job = self._job(number)
            stopped = job is not None and job.get("status") == "FAILED"
            stages = None if job is None else self._begun(job) if stopped else self._stages(job)
            if job is None or (stages is None and job.get("completionTime") is not None):
                return None
            found += sum(stage.cpu_seconds for stage in stages or ())
        return found

    def _stages(self, job: dict[str, Any], by_task: bool = False) -> list[Stage] | None:
        """Spark numbers a stage after its parents, so in a chain the numbers give the order.

        A skipped stage, whose output is kept from an earlier job, is none that the job ran. Spark forgets those first.
        """
        if job.get("completionTime") is None:
            return None
        known = (self._read(self._store.lastStageAttempt, number) for number in sorted(job["stageIds"]))
        ran = [
            read_stage(stage, self._by_task(stage) if by_task else ())
            for stage in known
            if stage is not None and stage.get("status") != "SKIPPED"
        ]
        understood = [stage for stage in ran if stage is not None]
        return understood if len(understood) == job["numCompletedStages"] + job["numFailedStages"] else None

    def _by_task(self, stage: dict[str, Any]) -> tuple[TaskWork, ...]:
        """What each task did; nothing if Spark has forgotten some, or if there are very many."""
        if stage["numTasks"] > MOST_TASKS:
            return ()
        tasks = self._json.read(self._store.taskList(stage["stageId"], stage["attemptId"], MOST_TASKS))
        works = [_task(task["taskMetrics"]) for task in tasks if task["status"] == "SUCCESS" and task["taskMetrics"]]
        return tuple(works) if len(works) == stage["numTasks"] else ()

    def _wait_until_filed(self) -> None:
        """Until all that has happened so far is in the store: what it does not know then, it has forgotten."""
        from py4j.protocol import Py4JJavaError

        with suppress(Py4JJavaError):  # TimeoutException: the newest jobs are not known yet
            self._scala.listenerBus().waitUntilEmpty(round(1e3 * FILED_WITHIN_SECONDS))

    def _job(self, number: int) -> dict[str, Any] | None:
        return self._read(self._store.job, number)

    def _read(self, find: Any, number: int) -> dict[str, Any] | None:
        """None for what the store does not know, or does not know any more: it throws NoSuchElementException."""
        from py4j.protocol import Py4JJavaError

        try:
            read: dict[str, Any] = self._json.read(find(number))
        except Py4JJavaError:
            return None
        return read


FIGURES = (
    "executorRunTime", "executorDeserializeTime", "shuffleFetchWaitTime", "executorCpuTime", "shuffleReadRecords",
    "inputRecords", "shuffleWriteRecords", "outputRecords", "submissionTime",
)  # fmt: skip


def read_stage(stage: dict[str, Any], by_task: tuple[TaskWork, ...] = ()) -> Stage | None:
    """A stage as the status store tells it; None if a figure is missing or none: then it is not known, not 0."""
    if not all(_is_figure(stage.get(name)) for name in FIGURES) or not isinstance(stage.get("numTasks"), int):
        return None
    completed: Any = stage.get("completionTime")
    return Stage(
        tasks=stage["numTasks"],
        run_seconds=stage["executorRunTime"] / 1e3,
        records_in=stage["shuffleReadRecords"] or stage["inputRecords"],
        records_out=stage["shuffleWriteRecords"] or stage["outputRecords"],
        deserialise_seconds=stage["executorDeserializeTime"] / 1e3,
        fetch_wait_seconds=stage["shuffleFetchWaitTime"] / 1e3,
        cpu_seconds=stage["executorCpuTime"] / 1e9,
        submitted=stage["submissionTime"] / 1e3,
        completed=(completed if _is_figure(completed) else stage["submissionTime"]) / 1e3,
        by_task=by_task,
    )


def _task(metrics: dict[str, Any]) -> TaskWork:
    shuffled = metrics["shuffleReadMetrics"]
    return TaskWork(
        records_in=shuffled["recordsRead"] or metrics["inputMetrics"]["recordsRead"],
        useful_seconds=max(0.0, (metrics["executorRunTime"] - shuffled["fetchWaitTime"]) / 1e3),
    )


def _is_figure(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < LARGEST


def _batch_of(job: dict[str, Any]) -> int | None:
    return batch_number(job.get("description") or "")


def batch_number(description: str) -> int | None:
    """
    >>> batch_number("clicks\\nid = 5c30\\nrunId = c07a\\nbatch = 6"), batch_number("count at app.py:7")
    (6, None)
    """
    found = re.search(r"^batch = (\d+)$", description, re.M)
    return int(found[1]) if found else None
