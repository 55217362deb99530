"""Measures any micro-batch query as one operator, from outside: progress events and stages.

Where the figures come from:

    input rate          what the source gained from one batch's start to the next: records taken, plus growth of the lag
    throughput          records of finished batches
    backlog             the lag that the last batch left, plus what came since it began at the input rate
    processing latency  how long a batch takes: records leave when it commits
    event latency       half the time between two batches' starts (a record comes at any moment in between), plus the
                        time in which the lag was served, plus processing. Estimated, not measured on records; a mean
    useful seconds      seconds for which the tasks of all stages held slots, without waiting for shuffled data
    state               bytes and memory that the last batch reported, and the share of blocks that all found in memory

A batch that takes much longer than those before it, or has many more records, is seen while it runs: what came is known
from offsets, and what has been spent on it so far, and how long it has taken, are the least that they can be.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from pyspark.sql.streaming.query import StreamingQuery

from penstock.control.ports import Clock, Monitor
from penstock.model import JOB as JOB
from penstock.model import Batch, Latency, OperatorSample, PenstockError, Sample
from penstock.spark.measure.progress import BatchProgress, ProgressReader
from penstock.spark.measure.running_batch import LATE, RunningBatch, running_batch
from penstock.spark.measure.stages import Stage, StageReader
from penstock.spark.measure.state_progress import StateProgress, hit_ratio

WAITING = "Waiting"
"""Spark's message of a query that has looked for records and found none begins so."""

QUIET = 1.5
"""A query is idle if no batch began for this many times as long as it took lately from one to the next."""


class QueryMonitor(Monitor):
    """The windows between two calls of `read`, each from the end of a batch to the end of a later one.

    most_tasks           tasks of the widest stage that was read last; None until one was
    sources_without_lag  the sources of the query that do not report how many records wait in them
    """

    def __init__(
        self,
        query: StreamingQuery,
        stages: StageReader,
        clock: Clock,
        slots: Callable[[], int],
        executors: Callable[[], int | None],
        *,
        name: str = JOB,
        settled_at: Callable[[], float] = lambda: 0.0,
        batch_seconds: float = math.inf,
    ) -> None:
        """
        slots          tasks that the query can run at the same time
        executors      how many it has; None where the cluster does not say
        name           what samples call its one operator
        settled_at     when the last change was over: a window that began earlier is warm-up
        batch_seconds  how long a batch may take: one that takes longer is looked at while it runs
        """
        self._query = query
        self._run = str(query.runId)
        self._progress = ProgressReader(query)
        self._stages = stages
        self._clock = clock
        self._slots = slots
        self._executors = executors
        self._name = name
        self._settled_at = settled_at
        self._batch_seconds = batch_seconds
        self._last: BatchProgress | None = None
        self._end = clock.now()  # of the newest window
        self._looked = (self._end, 0.0)  # when a batch last looked at its source, and the lag it left there
        self._looked_before = self._looked  # at the look before
        self._apart = 0.0  # seconds from the start of a batch to that of the next one, at most in the newest window
        self._longest = 0.0  # seconds of a batch in the newest window
        self._largest = 0.0  # records of a batch in the newest window
        self._cost: float | None = None  # useful seconds of a record in the newest window
        self._seen_until = 0.0  # of a batch that still runs
        self.most_tasks: int | None = None
        self.sources_without_lag: tuple[str, ...] = ()

    def read(self) -> Sequence[Sample]:
        if not self._query.isActive:
            raise PenstockError("the query has ended")
        batches = self._progress.new()
        if batches:
            if batches[0].start < self._looked[0]:  # it had begun when it seemed that nothing came
                self._looked = self._looked_before
            samples = self._earlier(batches) if self._last is None else [self._measure(self._last, batches)]
            begun = [batch.start for batch in (self._last, *batches) if batch is not None]
            self._apart = max((later - earlier for earlier, later in pairwise(begun)), default=self._apart)
            self._last, self._end = batches[-1], batches[-1].end
            self._looked = (batches[-1].start, batches[-1].lag or 0.0)
            self._longest = max(batch.seconds for batch in batches)
            self._largest = max(batch.records for batch in batches)
            self.sources_without_lag = batches[-1].sources_without_lag
            return [*samples, *self._late()]
        if late := self._late():
            return late
        status = self._query.status
        if status["isDataAvailable"]:
            return []  # a batch runs as those before it
        if self._last is None and not status["message"].startswith(WAITING):
            return []  # the query starts: what waits for it is not known yet
        if self._clock.now() - self._looked[0] < QUIET * self._apart:
            return []  # the next trigger is not due yet
        return [self._idle()]

    def _measure(self, before: BatchProgress, batches: Sequence[BatchProgress]) -> Sample:
        first, last = batches[0], batches[-1]
        follows = first.number == before.number + 1  # else Spark has forgotten some: their time does not count
        began = min(self._end, first.start) if follows else first.start
        seconds = max(last.end - began, 1e-3)
        records = sum(batch.records for batch in batches)
        rate = self._input_rate(batches) if follows else records / seconds
        lag = None if last.lag is None else last.lag + rate * last.seconds
        processing = sum(batch.seconds for batch in batches) / len(batches)
        measured = self._measured(batches)
        useful = _useful_seconds(measured, batches)
        self._cost = useful / records if useful is not None and records else self._cost
        return self._sample(
            began,
            seconds,
            records=records,
            rate=rate,
            backlog=lag,
            useful=useful,
            processing_ms=1e3 * processing,
            event_ms=None if lag is None else 1e3 * (self._waiting(batches, records / seconds) + processing),
            batches=tuple(measured.values()),
            state=[batch.state for batch in batches if batch.state is not None],
        )

    def _earlier(self, batches: Sequence[BatchProgress]) -> list[Sample]:
        """What ran before the first look shows what batches cost, and is warm-up in everything else.

        The first batch of a query loads classes and opens connections: it shows nothing about the others.
        """
        measured = self._measured(batches[1:]) if len(batches) > 1 else {}
        if not measured:
            return []
        records, seconds = sum(batch.records for batch in batches[1:]), max(batches[-1].end - batches[0].end, 1e-3)
        useful = _useful_seconds(measured, batches[1:])
        sample = self._sample(batches[0].end, seconds, records=records, useful=useful, batches=tuple(measured.values()))
        return [replace(sample, warm_up=True)]

    def _measured(self, batches: Sequence[BatchProgress]) -> Mapping[int, Batch]:
        """The batches whose stages are known, by their numbers."""
        stages = self._stages.of_batches(self._run, batches[0].number, batches[-1].number)
        self.most_tasks = max((stage.tasks for each in stages.values() for stage in each), default=self.most_tasks)
        return {batch.number: _batch(batch, stages[batch.number]) for batch in batches if batch.number in stages}

    def _input_rate(self, batches: Sequence[BatchProgress]) -> float:
        """Records per second that came between two looks at the source."""
        looked_at, lag = self._looked
        gained = sum(batch.records for batch in batches) + (batches[-1].lag or 0.0) - lag
        return max(0.0, gained) / max(batches[-1].start - looked_at, 1e-3)

    def _waiting(self, batches: Sequence[BatchProgress], throughput: float) -> float:
        """Seconds from a record's creation to the start of its batch, on average."""
        looked_at, lag = self._looked
        between = (batches[-1].start - looked_at) / len(batches)
        lags = [lag, *(batch.lag or 0.0 for batch in batches[:-1])]
        served = sum(lags) / len(lags) / throughput if throughput else 0.0
        return max(0.0, between) / 2 + served

    def _late(self) -> list[Sample]:
        """A window of a batch that still runs and is overdue, or will be: it has many more records than those before.
        Empty if there is none, or nothing is known of it.

        Its records are not completed, so it has no throughput. What was spent on them so far counts only where it is
        more than as many cost before: a batch that is half done has not shown yet what it costs.
        """
        now = self._clock.now()
        if self._last is None or not self._query.status["isTriggerActive"]:
            return []
        batch = running_batch(self._stages.context, self._query)
        if batch is None or batch.number <= self._last.number:
            return []
        overdue = now - batch.start > min(LATE * self._longest, self._batch_seconds)
        if not overdue and batch.records <= LATE * self._largest:
            return []
        so_far = now - batch.start
        stages = self._stages.so_far(self._run, batch.number)
        done = min(batch.records, max((stage.records_in for stage in stages), default=0))
        useful = sum(stage.held_seconds for stage in stages)
        costs_more = done > 0 and self._cost is not None and useful / done > self._cost
        rate, waiting = self._rate_so_far(batch, now), (batch.start - self._looked[0]) / 2
        began = max(self._end, self._seen_until)
        self._seen_until = now
        sample = self._sample(
            began,
            max(now - began, 1e-3),
            records=done,
            rate=rate,
            backlog=batch.records - done + batch.lag + (rate * so_far if batch.since is None else batch.since),
            useful=useful,
            processing_ms=1e3 * so_far,
            event_ms=1e3 * (so_far + max(0.0, waiting)),
        )
        if costs_more:
            return [replace(sample, throughput=None)]
        unknown = replace(sample.operators[self._name], records_in=None, records_out=None, useful_seconds=None)
        return [replace(sample, throughput=None, operators={self._name: unknown})]

    def _rate_so_far(self, batch: RunningBatch, now: float) -> float:
        """Records per second that came since a batch last looked at the source: until now, or until this one began."""
        looked_at, lag = self._looked
        until, since = (batch.start, 0.0) if batch.since is None else (now, batch.since)
        return max(0.0, batch.records + batch.lag + since - lag) / max(until - looked_at, 1e-3)

    def _idle(self) -> Sample:
        """Nothing came since the last window: Spark reports no progress then, only that it waits for data."""
        began, now = self._end, self._clock.now()
        self._looked_before = self._looked
        self._end, self._looked = now, (now, 0.0)
        backlog = None if self.sources_without_lag else 0.0
        return self._sample(began, max(now - began, 1e-3), records=0.0, rate=0.0, backlog=backlog, useful=0.0)

    def _sample(
        self,
        began: float,
        seconds: float,
        *,
        records: float,
        useful: float | None,
        rate: float | None = None,
        backlog: float | None = None,
        processing_ms: float | None = None,
        event_ms: float | None = None,
        batches: tuple[Batch, ...] = (),
        state: Sequence[StateProgress] = (),
    ) -> Sample:
        operator = OperatorSample(
            parallelism=max(1, self._slots()),
            records_in=records,
            records_out=records,  # as one operator it has no child that could see a difference
            useful_seconds=useful,
            latency_ms=processing_ms,
            state_bytes=state[-1].bytes if state else None,
            state_memory_bytes=state[-1].memory_bytes if state else None,
            state_cache_hit_ratio=hit_ratio(state),
        )
        return Sample(
            t=began,
            seconds=seconds,
            operators={self._name: operator},
            input_rate=rate,
            throughput=records / seconds,
            backlog=backlog,
            processing_latency_ms=None if processing_ms is None else Latency(mean=processing_ms),
            event_latency_ms=None if event_ms is None else Latency(mean=event_ms),
            executors=self._executors(),
            batches=batches,
            warm_up=began < self._settled_at(),
        )


def _batch(batch: BatchProgress, stages: Sequence[Stage]) -> Batch:
    held = sum(stage.held_seconds for stage in stages)
    return Batch(batch.records, batch.seconds, held, sum(stage.seconds for stage in stages))


def _useful_seconds(measured: Mapping[int, Batch], batches: Sequence[BatchProgress]) -> float | None:
    """Of all batches; those whose stages are not known cost as much for a record as the others."""
    held = sum(batch.useful_seconds for batch in measured.values())
    if len(measured) == len(batches):
        return held
    seen = sum(batch.records for batch in measured.values())
    return held * sum(batch.records for batch in batches) / seen if seen else None
