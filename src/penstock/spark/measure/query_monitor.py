"""Measures any micro-batch query as one operator, from outside: progress events and stage metrics.

Where the figures come from:

    input rate          what the source gained from one batch's start to the next: records taken, plus growth of the lag
    throughput          records of finished batches
    backlog             the lag the last batch left, plus what came since it began at the input rate
    processing latency  how long a batch takes: records leave when it commits
    event latency       half the time between two batches' starts (a record comes at any moment in between), plus the
                        time the lag took to be served, plus processing. Estimated, not measured on records; means only
    useful seconds      what the records would take in batches as long as the target allows (see batch_cost): so told,
                        a policy made for operators at once comes to the right parallelism
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from pyspark.sql.streaming.query import StreamingQuery

from penstock.control.ports import Clock, Monitor
from penstock.model import Batch as MeasuredBatch
from penstock.model import Latency, OperatorSample, PenstockError, Sample
from penstock.spark.executors.executors import Executor
from penstock.spark.measure.finished_batches import Batch, batch_of
from penstock.spark.measure.stage_work import StageWork

JOB = "job"


class QueryMonitor(Monitor):
    """The windows between two calls of `read`, each from the end of a batch to the end of a later one."""

    def __init__(
        self,
        query: StreamingQuery,
        work: StageWork,
        executors: Callable[[], Sequence[Executor]],
        clock: Clock,
        settled_at: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self._query = query
        self._work = work
        self._executors = executors
        self._clock = clock
        self._settled_at = settled_at
        self._last: Batch | None = None
        self._end = clock.now()  # of the newest window
        self._looked = (self._end, 0.0)  # when a batch last looked at its source, and the lag it left there
        self.most_tasks = 0
        self.silent_sources: tuple[str, ...] = ()

    def read(self) -> Sequence[Sample]:
        if not self._query.isActive:
            raise PenstockError("the query has ended")
        batches = self._new_batches()
        if batches:
            samples = [] if self._last is None else [self._measure(self._last, batches)]
            self._last, self._end = batches[-1], batches[-1].end
            self._looked = (batches[-1].start, batches[-1].lag or 0.0)
            self.silent_sources = batches[-1].silent
            return samples
        if self._query.status["isDataAvailable"]:
            return []  # a batch runs, and nothing is known of it before it ends
        return [self._idle()]

    def _new_batches(self) -> list[Batch]:
        """The batches that ended since the last call, oldest first. Spark keeps the last hundred or so."""
        known = -1 if self._last is None else self._last.number
        found: list[Batch] = []
        for event in reversed(self._query._jsq.recentProgress()):
            batch = batch_of(json.loads(event.json()))
            if batch.number <= known:
                break
            found.append(batch)
        return found[::-1]

    def _measure(self, before: Batch, batches: Sequence[Batch]) -> Sample:
        first, last = batches[0], batches[-1]
        follows = first.number == before.number + 1  # else Spark has forgotten some: their time does not count
        began = min(self._end, first.start) if follows else first.start
        seconds = max(last.end - began, 1e-3)
        rows = sum(batch.rows for batch in batches)
        rate = self._input_rate(batches) if follows else rows / seconds
        lag = None if last.lag is None else last.lag + rate * last.seconds
        processing = sum(batch.seconds for batch in batches) / len(batches)
        return self._sample(
            began, seconds, rows, rate, lag, self._useful_seconds(batches), processing,
            None if lag is None else self._waiting(batches, rows / seconds) + processing, self._costs(batches),
        )  # fmt: skip

    def _input_rate(self, batches: Sequence[Batch]) -> float:
        """Records per second that came between two looks at the source."""
        looked_at, lag = self._looked
        gained = sum(batch.rows for batch in batches) + (batches[-1].lag or 0.0) - lag
        return max(0.0, gained) / max(batches[-1].start - looked_at, 1e-3)

    def _waiting(self, batches: Sequence[Batch], throughput: float) -> float:
        """Seconds from a record's creation to the start of its batch, on average."""
        looked_at, lag = self._looked
        between = (batches[-1].start - looked_at) / len(batches)
        lags = [lag, *(batch.lag or 0.0 for batch in batches[:-1])]
        served = sum(lags) / len(lags) / throughput if throughput else 0.0
        return max(0.0, between) / 2 + served

    def _costs(self, batches: Sequence[Batch]) -> tuple[MeasuredBatch, ...]:
        work = self._work.of(batches[0].number, batches[-1].number) if batches else {}
        self.most_tasks = max((did.most_tasks for did in work.values()), default=self.most_tasks)
        return tuple(
            MeasuredBatch(batch.rows, batch.seconds, did.slot_seconds, did.stage_seconds)
            for batch in batches
            if (did := work.get(batch.number)) is not None
        )

    def _useful_seconds(self, batches: Sequence[Batch]) -> float | None:
        costs = self._costs(batches)
        return sum(cost.useful_seconds for cost in costs) if len(costs) == len(batches) else None

    def _idle(self) -> Sample:
        """Nothing came since the last window: Spark reports no progress then, only that it waits for data."""
        began, now = self._end, self._clock.now()
        self._end, self._looked = now, (now, 0.0)
        known = not self.silent_sources
        return self._sample(began, max(now - began, 1e-3), 0, 0.0, 0.0 if known else None, 0.0, None, None, ())

    def _sample(
        self, began: float, seconds: float, rows: float, rate: float, backlog: float | None, useful: float | None,
        processing: float | None, event: float | None, batches: tuple[MeasuredBatch, ...],
    ) -> Sample:  # fmt: skip
        executors = self._executors()
        slots = max(1, sum(executor.slots for executor in executors))
        operator = OperatorSample(
            parallelism=slots,
            records_in=rows,
            records_out=rows,  # as one operator it has no child that could tell the difference
            useful_seconds=useful,
            queue=backlog,
            latency_ms=_ms(processing),
        )
        return Sample(
            t=began,
            seconds=seconds,
            operators={JOB: operator},
            input_rate=rate,
            throughput=rows / seconds,
            backlog=backlog,
            processing_latency_ms=None if processing is None else Latency(mean=_ms(processing)),
            event_latency_ms=None if event is None else Latency(mean=_ms(event)),
            executors=len(executors),
            batches=batches,
            warm_up=began < self._settled_at(),
        )


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else 1e3 * seconds
