"""The micro-batch engine: the frames are built anew for each batch, so a change takes effect at the next one.

There is no restart, nothing is lost, and any operator can run. The operators of a batch run sequentially on the same
slots.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import ClassVar

from pyspark import StorageLevel
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.streaming.query import StreamingQuery

from penstock.model import Actuation, Execution, Plan, Sample
from penstock.spark.dry_run import DryRun
from penstock.spark.engine import SparkEngine
from penstock.spark.executors.slots import FixedSlots, SlotSupplier
from penstock.spark.failure import JobFailedError, given_up, in_one_line, place_of_failure
from penstock.spark.graph import Graph
from penstock.spark.measure.jvm_clock import now
from penstock.spark.measure.stages import StageReader
from penstock.spark.measure.stamp import STAMP, stamp
from penstock.spark.microbatch.batches import MicroBatch
from penstock.spark.microbatch.creation import TimesOfCreation
from penstock.spark.microbatch.monitor import BatchMonitor, RanBatch, SegmentJobs
from penstock.spark.segments import Segment, segments
from penstock.spark.settings import KEEP_EVERY_STAGE

log = logging.getLogger("penstock")

WARM_UP_BATCHES = 2
"""The first batches after a change are slow: Python workers start when a slot is first used, and Spark compiles what it
has not seen."""

ATTEMPTS = 3
"""A batch that fails this often ends the job. A sink that cannot count a batch once has its rows as often."""
PAUSE_SECONDS = 1.0
"""Before the second attempt; each further pause is twice as long."""

STOP_SECONDS = 60.0
INTERRUPTED = "py4j.protocol.Py4JJavaError: An error occurred while calling a batch: java.lang.InterruptedException"
"""Spark recognises an interrupted batch by this text. It searches for it with a regular expression that overflows the
stack on the long text that an interrupted call really leaves."""

SETTINGS = {
    "spark.sql.adaptive.enabled": "false",  # it would cut a job into many
    **KEEP_EVERY_STAGE,
}


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
        self._stages = StageReader(spark.sparkContext)
        self._monitor = BatchMonitor(graph, self.topology, dry_runs, self._stages, self.slots, self)
        self._query: StreamingQuery | None = None
        self._lock = threading.Lock()
        self._between_batches = threading.Event()
        self._between_batches.set()
        self._stopping = threading.Event()
        self._failed: Exception | None = None  # of the batch that ended the job
        self._warming = WARM_UP_BATCHES
        self._created = TimesOfCreation(spark)
        # Columns that every batch needs are made once: making one takes milliseconds.
        self._stamp = stamp(graph.source.created, now(spark))
        self._barrier = F.spark_partition_id() >= 0

    # The life of the job ---------------------------------------------------------------------------------------------

    @property
    def trigger_seconds(self) -> float:
        return self._batch_seconds

    def _start(self, plan: Plan) -> None:
        self._plan, self._warming = plan, WARM_UP_BATCHES
        self._stopping.clear()
        began, source = self.now(), self.graph.source.stream(self._spark)
        self._query = (
            source.writeStream.foreachBatch(self._on_batch)
            .option("checkpointLocation", self._checkpoint)
            .trigger(processingTime=f"{round(self._batch_seconds * 1e3)} milliseconds")
            .queryName(self.graph.name)
            .start()
        )
        self._monitor.begin(self._query, began)

    def stop(self) -> None:
        """Stop after the batch that runs, if it ends in time: one that is interrupted runs again at the next start."""
        if self._query is None:
            return
        self._stopping.set()
        self._between_batches.wait(STOP_SECONDS)
        with _muted_gateway():
            self._query.stop()

    def wait(self, seconds: float | None = None) -> bool:
        assert self._query is not None
        try:
            return self._query.awaitTermination(seconds) is not False  # type: ignore[arg-type]  # it takes fractions too
        except StreamingQueryException as error:
            log.debug("%s failed", self.graph.name, exc_info=True)
            raise JobFailedError(self._why(self._query, error)) from None

    def _why(self, query: StreamingQuery, error: StreamingQueryException) -> str:
        if self._failed is None:  # not in a batch of ours
            return f"{self.graph.name} failed: {in_one_line(error)}"
        return given_up(self.graph.name, ATTEMPTS, in_one_line(self._failed), place_of_failure(query))

    def notes(self) -> list[str]:
        return ["a change takes effect with the next batch, without a pause; duplicates are not counted"]

    # The ports -------------------------------------------------------------------------------------------------------

    def _change(self, plan: Plan) -> None:
        """The next batch runs under `plan`. If it needs fewer slots, the batch that has more of them ends first."""
        before = self.slots_needed(self.plan())
        with self._lock:
            self._plan, self._warming = plan, WARM_UP_BATCHES
        if self.slots_needed(plan) < before:
            self._between_batches.wait(STOP_SECONDS)

    @property
    def backlog(self) -> float | None:
        """Records that waited in the source at the last `read`."""
        return self._monitor.backlog

    def read(self) -> Sequence[Sample]:
        return self._monitor.read(self.plan())

    # One batch -------------------------------------------------------------------------------------------------------

    def _on_batch(self, frame: DataFrame, number: int) -> None:
        self._between_batches.clear()
        try:
            self._monitor.take_progress()
            self._try_batch(frame, number)
        except Exception:
            if self._stopping.is_set():
                raise RuntimeError(INTERRUPTED) from None
            raise
        finally:
            self._between_batches.set()

    def _try_batch(self, frame: DataFrame, number: int) -> None:
        """Run a batch, again if it fails: what was wrong may pass, such as a broker that was away."""
        for attempt in range(ATTEMPTS):
            try:
                self._run_batch(frame, number)
                return
            except Exception as error:
                if self._stopping.is_set():
                    raise
                if attempt + 1 == ATTEMPTS:
                    self._failed = error
                    raise RuntimeError(in_one_line(error)) from None
                log.warning("batch %d of %s failed and is run again: %s", number, self.graph.name, in_one_line(error))
            if self._stopping.wait(PAUSE_SECONDS * 2**attempt):
                raise RuntimeError(INTERRUPTED)

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
        measured = self._metering and self._monitor.is_measured(began)
        if measured:
            frame = self._created.sampled(frame)
        before = self._useful_seconds()
        kept: dict[str, DataFrame] = {}
        try:
            if sum(not segment.after for segment in self._segments) > 1:
                frame = kept[""] = frame.persist(StorageLevel.MEMORY_AND_DISK)
                frame.count()
            ran = [self._run_segment(segment, plan, frame, kept, number) for segment in self._segments]
        finally:
            for one in kept.values():
                one.unpersist()
        batch = MicroBatch(began, self.now(), plan, records=0, warm_up=warm_up)
        useful = {name: seconds - before[name] for name, seconds in self._useful_seconds().items()}
        created = self._created.taken() if measured else None
        self._monitor.add(RanBatch(batch, number, tuple(ran), created, useful))

    def _run_segment(
        self, segment: Segment, plan: Plan, source: DataFrame, kept: dict[str, DataFrame], number: int
    ) -> SegmentJobs:
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
        with self._stages.tagged(f"penstock-{self.graph.name}-{number}-{segment.name}") as found:
            if segment.feeds or len(segment.sinks) > 1 or any(sink.reads_again for sink in segment.sinks):
                frame = kept[segment.name] = frame.persist(StorageLevel.MEMORY_AND_DISK)
                counted = frame.count()
            for sink in segment.sinks:
                sink.write(frame, number)
        return SegmentJobs(segment, found[0], counted)

    def _useful_seconds(self) -> dict[str, float]:
        """Useful seconds so far of the operators that measure themselves."""
        tried = self._dry_runs.items()
        return {name: sum(meter.useful_seconds for meter in each.meters) for name, each in tried if each.meters}


@contextmanager
def _muted_gateway() -> Iterator[None]:
    """An interrupted batch is no error worth a page of text."""
    gateway = logging.getLogger("py4j.clientserver")
    gateway.disabled = True
    try:
        yield
    finally:
        gateway.disabled = False
