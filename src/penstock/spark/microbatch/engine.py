"""The micro-batch engine: the frames are built anew for each batch, so a change takes effect at the next one.

There is no restart, nothing is lost, and any operator can run. The operators of a batch run sequentially on the same
slots.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.streaming.query import StreamingQuery

from penstock.model import Actuation, Execution, OperatorSample, Plan, Sample
from penstock.spark.dry_run import DryRun
from penstock.spark.engine import SparkEngine
from penstock.spark.executors.slots import FixedSlots, SlotSupplier
from penstock.spark.graph import Graph
from penstock.spark.measure.jvm_clock import now
from penstock.spark.measure.progress import BatchProgress, ProgressReader
from penstock.spark.measure.stages import JobRange, StageReader
from penstock.spark.measure.stamp import STAMP, stamp
from penstock.spark.microbatch.attribution import Link, OperatorWork, attribute
from penstock.spark.microbatch.batches import QUANTILES, MicroBatch, samples
from penstock.spark.microbatch.creation import TimesOfCreation
from penstock.spark.segments import Segment, segments
from penstock.spark.settings import KEEP_EVERY_STAGE

WARM_UP_BATCHES = 2
"""The first batches after a change are slow: Python workers start when a slot is first used, and Spark compiles what it
has not seen."""

REMEMBERED_BATCHES = 1_000
MEASURED_BATCHES = 3
"""About this many batches of a window are measured: to measure one and to read its stages takes milliseconds, and a few
batches show what all are like."""

STOP_SECONDS = 60.0
INTERRUPTED = "py4j.protocol.Py4JJavaError: An error occurred while calling a batch: java.lang.InterruptedException"
"""Spark recognises an interrupted batch by this text. It searches for it with a regular expression that overflows the
stack on the long text that an interrupted call really leaves."""

SETTINGS = {
    "spark.sql.adaptive.enabled": "false",  # it would cut a job into many
    **KEEP_EVERY_STAGE,
}


@dataclass(frozen=True, slots=True)
class _RanBatch:
    """A batch that has run, before its stages are read. `created` is None if it is none of those that are measured."""

    batch: MicroBatch
    number: int
    jobs: tuple[tuple[Segment, JobRange, int | None], ...]
    created: tuple[int, ...] | None
    measured_inside: dict[str, float]


class MicroBatchEngine(SparkEngine):
    """Runs a graph of operators in micro-batches."""

    execution: ClassVar[Execution] = Execution.SEQUENTIAL
    actuation: ClassVar[Actuation] = Actuation.LIVE

    def __init__(
        self,
        spark: SparkSession,
        graph: Graph,
        dry_runs: Mapping[str, DryRun],
        checkpoint: str,
        *,
        batch_seconds: float = 1.0,
        slots: SlotSupplier | None = None,
        metering: bool = True,
    ) -> None:
        """Nothing is started yet.

        batch_seconds  from one micro-batch to the next
        slots          where slots come from; None: those that the application has
        metering       without it nothing is known of operators and latency; for comparisons
        """
        super().__init__(graph.topology(self.actuation), slots or FixedSlots(spark))
        self.graph = graph
        self._spark = spark
        self._dry_runs = dry_runs
        self._checkpoint = checkpoint
        self._batch_seconds = batch_seconds
        self._metering = metering
        self._segments = segments(graph)
        self._reader = StageReader(spark.sparkContext)
        self._query: StreamingQuery | None = None
        self._lock = threading.Lock()
        self._between_batches = threading.Event()
        self._between_batches.set()
        self._stopping = False
        self._progress: ProgressReader | None = None
        self._reported: dict[int, BatchProgress] = {}  # by the number of the batch, until it is read
        self._newest: BatchProgress | None = None
        self._ran: deque[_RanBatch] = deque(maxlen=REMEMBERED_BATCHES)
        self._warming = WARM_UP_BATCHES
        self._created = TimesOfCreation(spark)
        self._measured_at = self._measure_after = 0.0  # seconds: when last, and how long after that again
        # Columns that every batch needs are made once: making one takes milliseconds.
        self._stamp = stamp(graph.source.created, now(spark))
        self._barrier = F.spark_partition_id() >= 0
        self._read_until = self._offered_at = self.now()
        self._done = 0.0
        self._backlog: float | None = None
        self._offered: float | None = None

    # The life of the job ---------------------------------------------------------------------------------------------

    @property
    def trigger_seconds(self) -> float:
        return self._batch_seconds

    def start(self, plan: Plan) -> None:
        plan.check(self.topology)
        self._plan, self._warming = plan, WARM_UP_BATCHES
        self._stopping = False
        source = self.graph.source.stream(self._spark)
        self._read_until = self._offered_at = self.now()
        self._query = (
            source.writeStream.foreachBatch(self._on_batch)
            .option("checkpointLocation", self._checkpoint)
            .trigger(processingTime=f"{round(self._batch_seconds * 1e3)} milliseconds")
            .queryName(self.graph.name)
            .start()
        )
        self._progress = ProgressReader(self._query)

    def stop(self) -> None:
        """Stop after the batch that runs, if it ends in time: one that is interrupted runs again at the next start."""
        if self._query is None:
            return
        self._stopping = True
        self._between_batches.wait(STOP_SECONDS)
        with _muted_gateway():
            self._query.stop()

    def wait(self, seconds: float | None = None) -> bool:
        assert self._query is not None
        return self._query.awaitTermination(seconds) is not False  # type: ignore[arg-type]  # it takes fractions too

    # The ports -------------------------------------------------------------------------------------------------------

    def apply(self, plan: Plan) -> None:
        """The next batch runs under `plan`."""
        plan.check(self.topology)
        with self._lock:
            self._plan, self._warming = plan, WARM_UP_BATCHES

    @property
    def backlog(self) -> float | None:
        """Records that waited in the source at the last `read`."""
        return self._backlog

    def read(self) -> Sequence[Sample]:
        ran = self._finished()
        backlog, input_rate = self._arrivals()
        since = self._read_until
        if not ran:
            return self._idle(since, backlog, input_rate)
        self._read_until = ran[-1].batch.ended
        self._measure_after = (self._read_until - since) / MEASURED_BATCHES
        measured = [one.number for one in ran if one.created is not None]
        read = {measured[place] for place in _spread(len(measured), MEASURED_BATCHES)}
        batches = [self._measured(one) if one.number in read else one.batch for one in ran]
        return samples(self.topology, batches, since, input_rate, backlog, self.slots.executors())

    # One batch -------------------------------------------------------------------------------------------------------

    def _on_batch(self, frame: DataFrame, number: int) -> None:
        self._between_batches.clear()
        try:
            with self._lock:
                self._take_progress()
            self._run_batch(frame, number)
        except Exception:
            if self._stopping:
                raise RuntimeError(INTERRUPTED) from None
            raise
        finally:
            self._between_batches.set()

    def _run_batch(self, frame: DataFrame, number: int) -> None:
        with self._lock:  # the plan of a batch is that of its beginning
            plan, warm_up = self.plan(), self._warming > 0
            self._warming -= warm_up
        began = self.now()
        for key, value in SETTINGS.items():
            frame.sparkSession.conf.set(key, value)
        # Not in the query's own plan, which hands over whole records: here the optimiser leaves out a stamp, and every
        # other column, that is not used.
        frame = frame.withColumn(STAMP, self._stamp)
        measured = self._metering and began - self._measured_at >= self._measure_after
        if measured:
            self._measured_at = began
            frame = self._created.sampled(frame)
        inside = self._measured_inside()
        kept: dict[str, DataFrame] = {}
        try:
            if sum(not segment.after for segment in self._segments) > 1:
                frame = kept[""] = frame.persist(StorageLevel.MEMORY_AND_DISK)
                frame.count()
            jobs = [self._run_segment(segment, plan, frame, kept, number) for segment in self._segments]
        finally:
            for one in kept.values():
                one.unpersist()
        batch = MicroBatch(began, self.now(), plan, records=0, warm_up=warm_up)
        own = {name: seconds - inside[name] for name, seconds in self._measured_inside().items()}
        created = self._created.taken() if measured else None
        with self._lock:
            self._ran.append(_RanBatch(batch, number, tuple(jobs), created, own))

    def _run_segment(
        self, segment: Segment, plan: Plan, source: DataFrame, kept: dict[str, DataFrame], number: int
    ) -> tuple[Segment, JobRange, int | None]:
        """One Spark job over the stages of the segment; what others read afterwards is kept for the batch."""
        frame = kept[segment.after[0]] if segment.after else source
        for parent in segment.after[1:]:
            frame = frame.unionByName(kept[parent])
        for name in segment.operators:
            step = self.graph.steps[name]
            frame = frame.repartition(plan[name], *step.key)
            if self._dry_runs[name].filters:
                # The optimiser would carry the operator's filters through the shuffle in front of it, to run them with
                # the parallelism of another. It does not move them past a condition that is not deterministic.
                frame = frame.where(self._barrier)
            frame = step.function(frame)
        counted = None
        with self._reader.tagged(f"penstock-{self.graph.name}-{number}-{segment.name}") as found:
            if segment.feeds or len(segment.sinks) > 1 or any(sink.reads_again for sink in segment.sinks):
                frame = kept[segment.name] = frame.persist(StorageLevel.MEMORY_AND_DISK)
                counted = frame.count()
            for sink in segment.sinks:
                sink.write(frame, number)
        return segment, found[0], counted

    # Measuring -------------------------------------------------------------------------------------------------------

    def _finished(self) -> list[_RanBatch]:
        """The batches that ended since the last call, as far as Spark has reported them."""
        finished = []
        with self._lock:
            self._take_progress()
            while self._ran and self._newest is not None and self._ran[0].number <= self._newest.number:
                one = self._ran.popleft()
                progress = self._reported.pop(one.number, None)
                if progress is None:  # Spark has forgotten it
                    continue
                self._done += progress.records
                batch = replace(one.batch, records=progress.records, trigger_seconds=progress.seconds)
                finished.append(replace(one, batch=batch))
        return [one for one in finished if one.batch.records]  # Spark begins with an empty one

    def _take_progress(self) -> None:
        """Take what Spark reports, at the start of each batch as well: it keeps the last hundred batches only."""
        if self._progress is None:
            return
        for progress in self._progress.new():
            self._reported[progress.number] = self._newest = progress
        while len(self._reported) > REMEMBERED_BATCHES:
            del self._reported[min(self._reported)]

    def _arrivals(self) -> tuple[float | None, float | None]:
        """The backlog, and the records per second that came since the last call, done or waiting."""
        now, newest = self.now(), self._newest
        backlog = self._backlog = None if newest is None else self.graph.source.backlog(newest.sources[0].end, now)
        offered = None if backlog is None else self._done + backlog
        before, since = self._offered, self._offered_at
        self._offered, self._offered_at = offered, now
        if offered is None or before is None or now <= since:
            return backlog, None
        return backlog, max(0.0, (offered - before) / (now - since))

    def _idle(self, since: float, backlog: float | None, input_rate: float | None) -> Sequence[Sample]:
        """No batch ended. If nothing waits either, the job is idle, and that is a measurement too."""
        now = self.now()
        if backlog != 0 or now <= since:
            return ()
        self._read_until = now
        plan = self.plan()
        idle = {name: OperatorSample(plan[name], 0.0, 0.0, 0.0, queue=0.0) for name in self.topology.names}
        return [Sample(
            t=since, seconds=now - since, operators=idle, input_rate=input_rate, throughput=0.0, backlog=0.0,
            executors=self.slots.executors(),
        )]  # fmt: skip

    def _measured(self, ran: _RanBatch) -> MicroBatch:
        """The batch with what its stages and its records show."""
        work: dict[str, OperatorWork] = {}
        for segment, jobs, counted in ran.jobs:
            stages = self._reader.of_jobs(jobs)
            if not stages:
                return ran.batch
            # Each instance counts its own records, and one more stage adds them up; one instance needs none.
            trailing = 1 if counted is not None and ran.batch.plan[segment.name] > 1 else 0
            work |= attribute(self._links(segment), stages, counted, trailing)
        for name, seconds in ran.measured_inside.items():
            work[name] = replace(work[name], useful_seconds=seconds, stage_seconds=seconds / ran.batch.plan[name])
        if not ran.created:
            return replace(ran.batch, work=work)
        created = np.array(ran.created) / 1e6
        return replace(
            ran.batch, work=work, created=tuple(np.quantile(created, QUANTILES)), mean_created=float(created.mean())
        )

    def _measured_inside(self) -> dict[str, float]:
        """Useful seconds so far of the operators that measure themselves."""
        tried = self._dry_runs.items()
        return {name: sum(meter.useful_seconds for meter in each.meters) for name, each in tried if each.meters}

    def _links(self, segment: Segment) -> list[Link]:
        links = []
        for name in segment.operators:
            step = self.graph.steps[name]
            parents = [self.graph.steps[parent] for parent in step.after]
            may_fuse = bool(step.key) and any(parent.key == step.key for parent in parents)
            links.append(Link(name, self._dry_runs[name].exchanges, may_fuse))
        return links


@contextmanager
def _muted_gateway() -> Iterator[None]:
    """An interrupted batch is no error worth a page of text."""
    gateway = logging.getLogger("py4j.clientserver")
    gateway.disabled = True
    try:
        yield
    finally:
        gateway.disabled = False


def _spread(count: int, wanted: int) -> set[int]:
    """Indices spread evenly over a sequence, the last one among them.

    >>> sorted(_spread(10, 4)), sorted(_spread(2, 4))
    ([1, 4, 7, 9], [0, 1])
    """
    return {round((i + 1) * count / wanted) - 1 for i in range(wanted)} if count > wanted else set(range(count))
