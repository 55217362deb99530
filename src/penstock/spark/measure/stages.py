"""Reads what Spark itself measured of the stages of a job: nothing is added to the data's way for it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from pyspark import SparkContext


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of a Spark job: sums over its tasks.

    tasks           how many there were
    useful_seconds  run time without waiting for the shuffle: deserialisation, processing, serialisation
    records_in      records that it read from a shuffle, or from the source or a kept frame
    records_out     records that it wrote to a shuffle or to a file
    """

    tasks: int
    useful_seconds: float
    records_in: int
    records_out: int


@dataclass(frozen=True, slots=True)
class Jobs:
    """Spark jobs that were started under one tag, as a range of numbers in which others may stand too."""

    tag: str
    first: int
    end: int


class StageReader:
    """Tags the jobs of a piece of work, and later reads their stages. Works with the UI disabled."""

    def __init__(self, context: SparkContext) -> None:
        self._context = context
        self._scala: Any = context._jsc.sc()
        jvm: Any = context._jvm
        # One call through the gateway a stage, where asking figure by figure takes ten.
        self._json = jvm.com.fasterxml.jackson.databind.ObjectMapper()
        self._json.registerModule(jvm.com.fasterxml.jackson.module.scala.DefaultScalaModule())

    @contextmanager
    def tagged(self, tag: str) -> Iterator[list[Jobs]]:
        """Everything that this thread runs inside bears the tag; the jobs are in the list when it is over."""
        found: list[Jobs] = []
        first = self._next_job()
        self._context.addJobTag(tag)
        try:
            yield found
        finally:
            self._context.removeJobTag(tag)
            found.append(Jobs(tag, first, self._next_job()))

    def stages(self, jobs: Jobs) -> list[list[Stage]] | None:
        """The stages that each job ran, parents before children; None if Spark does not know one of them (any more).

        Spark numbers a stage after its parents, so in a chain the numbers tell the order.
        """
        store = self._scala.statusStore()
        try:
            return [
                [stage for number in sorted(job["stageIds"]) if (stage := self._stage(store, number)) is not None]
                for number in range(jobs.first, jobs.end)
                if jobs.tag in (job := self._read(store.job(number)))["jobTags"]
            ]
        except Exception:  # NoSuchElementException from the JVM: the store keeps the newest thousand
            return None

    def _stage(self, store: Any, number: int) -> Stage | None:
        stage = self._read(store.lastStageAttempt(number))
        if stage["status"] == "SKIPPED":  # what it would have made is kept from an earlier job
            return None
        milliseconds = max(0, stage["executorRunTime"] - stage["shuffleFetchWaitTime"])
        return Stage(
            tasks=stage["numTasks"],
            useful_seconds=milliseconds / 1e3,
            records_in=stage["shuffleReadRecords"] or stage["inputRecords"],
            records_out=stage["shuffleWriteRecords"] or stage["outputRecords"],
        )

    def _read(self, value: Any) -> dict[str, Any]:
        read: dict[str, Any] = json.loads(self._json.writeValueAsString(value))
        return read

    def _next_job(self) -> int:
        number: int = self._scala.dagScheduler().numTotalJobs()
        return number
