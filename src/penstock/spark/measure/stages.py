"""Reads what Spark itself measured of the stages of its jobs: the only place that does. It works with the UI disabled.

Spark's status store keeps the newest jobs and stages, `spark.ui.retainedStages` of them. What it has forgotten is not
known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark import SparkContext

from penstock.spark.measure.status_json import StatusJson

FILED_WITHIN_SECONDS = 10.0
"""Spark files what it measured of a job a moment after the job has ended, on a busy driver seconds later; longer than
this it is not waited for."""


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
        first = self._next_job()
        self.context.addJobTag(tag)
        try:
            yield found
        finally:
            self.context.removeJobTag(tag)
            found.append(JobRange(tag, first, self._next_job()))

    def of_jobs(self, jobs: JobRange) -> list[list[Stage]] | None:
        """The stages that each job ran, parents before children; None if Spark has forgotten one of them."""
        self._wait_until_filed()
        found = []
        for number in range(jobs.first, jobs.end):
            job = self._job(number)
            if job is None:
                return None
            if jobs.tag in job["jobTags"]:
                stages = self._stages(job)
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
            batch = None if job is None else batch_number(job["description"] or "")
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
            if job is None or batch_number(job["description"] or "") != batch:
                break
            known = (self._read(self._store.lastStageAttempt, stage) for stage in sorted(job["stageIds"]))
            found[:0] = [_stage(stage) for stage in known if stage is not None and stage["submissionTime"]]
        return found

    def _stages(self, job: dict[str, Any]) -> list[Stage] | None:
        """Spark numbers a stage after its parents, so in a chain the numbers give the order.

        A skipped stage, whose output is kept from an earlier job, is none that the job ran. Spark forgets those first.
        """
        if job["completionTime"] is None:
            return None
        known = (self._read(self._store.lastStageAttempt, number) for number in sorted(job["stageIds"]))
        ran = [_stage(stage) for stage in known if stage is not None and stage["status"] != "SKIPPED"]
        return ran if len(ran) == job["numCompletedStages"] + job["numFailedStages"] else None

    def _wait_until_filed(self) -> None:
        """Until all that has happened so far is in the store: what it does not know then, it has forgotten."""
        with suppress(Py4JJavaError):  # TimeoutException: the newest jobs are not known yet
            self._scala.listenerBus().waitUntilEmpty(round(1e3 * FILED_WITHIN_SECONDS))

    def _job(self, number: int) -> dict[str, Any] | None:
        return self._read(self._store.job, number)

    def _read(self, find: Any, number: int) -> dict[str, Any] | None:
        """None for what the store does not know, or does not know any more: it throws NoSuchElementException."""
        try:
            read: dict[str, Any] = self._json.read(find(number))
        except Py4JJavaError:
            return None
        return read

    def _next_job(self) -> int:
        number: int = self._scala.dagScheduler().numTotalJobs()
        return number


def _stage(stage: dict[str, Any]) -> Stage:
    return Stage(
        tasks=stage["numTasks"],
        run_seconds=stage["executorRunTime"] / 1e3,
        records_in=stage["shuffleReadRecords"] or stage["inputRecords"],
        records_out=stage["shuffleWriteRecords"] or stage["outputRecords"],
        deserialise_seconds=stage["executorDeserializeTime"] / 1e3,
        fetch_wait_seconds=stage["shuffleFetchWaitTime"] / 1e3,
        cpu_seconds=stage["executorCpuTime"] / 1e9,
        submitted=stage["submissionTime"] / 1e3,
        completed=(stage["completionTime"] or stage["submissionTime"]) / 1e3,
    )


def batch_number(description: str) -> int | None:
    """
    >>> batch_number("clicks\\nid = 5c30\\nrunId = c07a\\nbatch = 6"), batch_number("count at app.py:7")
    (6, None)
    """
    found = re.search(r"^batch = (\d+)$", description, re.M)
    return int(found[1]) if found else None
