"""The micro-batch engine: the frames are built anew for each batch, so a change takes effect at the next one.

There is no restart, nothing is lost, and any operator can run. The operators of a batch run sequentially on the same
slots.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, NoReturn

from pyspark import StorageLevel
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.streaming.query import StreamingQuery

from penstock.model import Actuation, Execution, Plan, Sample
from penstock.spark.chains import Chain, Exchange, Partitioning, chains, united
from penstock.spark.dry_run import DryRun
from penstock.spark.engine import SparkEngine
from penstock.spark.executors.slots import FixedSlots, SlotSupplier
from penstock.spark.failure import JobFailedError, given_up, in_one_line, place_of_failure
from penstock.spark.graph import Graph
from penstock.spark.hadoop_folder import HadoopFolder
from penstock.spark.io.endpoints import Incoming, Prepares
from penstock.spark.io.file_sink import refuse_shared_folders
from penstock.spark.job_note import read_note, write_note
from penstock.spark.measure.accumulators import Remembered
from penstock.spark.measure.stages import JobRange, StageReader
from penstock.spark.measure.stamp import STAMP, stamp
from penstock.spark.microbatch.batches import MicroBatch
from penstock.spark.microbatch.call_sites import without_call_sites
from penstock.spark.microbatch.chain_meter import ChainMeter
from penstock.spark.microbatch.creation import TimesOfCreation
from penstock.spark.microbatch.known_classes import keep_classes
from penstock.spark.microbatch.monitor import BatchMonitor, Look, RanBatch, Running, SegmentJobs
from penstock.spark.microbatch.scan import BatchScan
from penstock.spark.segments import Segment, segments
from penstock.spark.settings import KEEP_EVERY_STAGE, temporary_settings

log = logging.getLogger("penstock")

WARM_UP_BATCHES = 2
"""The first batches after a change are slow: Python workers start when a slot is first used, and Spark compiles what it
has not seen."""

ATTEMPTS = 3
"""A batch that fails this often ends the job. A sink that cannot count a batch once has its rows as often."""
PAUSE_SECONDS = 1.0
"""Before the second attempt; each further pause is twice as long."""

RECENT_BATCHES = 10
"""A source leaves out partitions without new records. As many are taken for granted as the widest of the recent batches
had: otherwise a batch with few records would run in other stages than those before it."""

PER_BATCH = (
    "operator %s uses %s, which in micro-batches sees the records of one batch only: for all records there are the "
    "engine realtime and penstock.spark.NativeQuery"
)

REMEMBERED_PROGRESS = "spark.sql.streaming.numRecentProgressUpdates"

STOP_SECONDS = 60.0
COMMIT_SECONDS = 5.0
"""A stop waits this long for Spark to write down that the last batch is over, or the next start would run it again."""
LOOK_SECONDS = 0.01
INTERRUPTED = "py4j.protocol.Py4JJavaError: An error occurred while calling a batch: java.lang.InterruptedException"
"""Spark recognises an interrupted batch by this text. It searches for it with a regular expression that overflows the
stack on the long text that an interrupted call really leaves."""

SETTINGS = {
    "spark.sql.adaptive.enabled": "false",  # it would cut a job into many
    "spark.sql.unionOutputPartitioning": "false",  # a union has the partitions of all that it unites
    **KEEP_EVERY_STAGE,
}


@dataclass(frozen=True, slots=True)
class Output:
    """What a segment reads: the batch itself or what another segment made of it, and how its records lie."""

    frame: DataFrame
    lies: Partitioning


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
        chaining: bool = True,
    ) -> None:
        """Nothing is started yet.

        batch_seconds  from one micro-batch to the next
        slots          where slots come from; None: those that the application has
        metering       without it nothing is known of operators and latency; for comparisons
        chaining       whether operators may share their instances
        """
        super().__init__(graph.topology(self.actuation), slots or FixedSlots(spark))
        self.graph = graph
        self._spark = spark
        self._dry_runs = dry_runs
        self._checkpoint = checkpoint
        self._batch_seconds = batch_seconds
        self._metering = metering
        self._chaining = chaining
        self._segments = segments(graph)
        self._stages = StageReader(spark.sparkContext)
        self._monitor = BatchMonitor(graph, self.topology, dry_runs, self._stages, self.slots, self)
        self._query: StreamingQuery | None = None
        self._lock = threading.Lock()
        self._between_batches = threading.Event()
        self._between_batches.set()
        self._stopping = threading.Event()
        self._held = threading.Event()  # a batch waits for the stop: all before it are written down
        self._ran = -1  # the number of the last batch that was run
        self._failed: Exception | None = None  # of the batch that ended the job
        self._warming = WARM_UP_BATCHES
        self._created = TimesOfCreation(spark)
        self._meter = ChainMeter(spark, dry_runs)
        # Spark forgets what it has reported: it is taken in time, if nobody reads samples meanwhile.
        self._progress_batches = max(1, int(spark.conf.get(REMEMBERED_PROGRESS) or 1) // 5)
        self._partitions: deque[int] = deque(maxlen=RECENT_BATCHES)
        # Columns that every batch needs are made once: making one takes milliseconds.
        keep_classes(spark.sparkContext._jvm)
        self._taken = Remembered(spark)
        # Not in the query's own plan, which hands over whole records: here the optimiser leaves out a stamp, and every
        # other column, that is not used.
        taken = F.timestamp_millis(self._taken.value)
        self._scan = BatchScan(spark, STAMP, stamp(graph.source.created, taken))
        self._barrier = F.spark_partition_id() >= 0

    # The life of the job ---------------------------------------------------------------------------------------------

    @property
    def trigger_seconds(self) -> float:
        return self._batch_seconds

    @property
    def local_checkpoint(self) -> Path | None:
        return HadoopFolder(self._spark, self._checkpoint).local

    def _prepare(self, plan: Plan) -> Plan:
        """Every sink looks at what it will be given, and whose it is."""
        refuse_shared_folders(self._spark, [outlet.sink for outlet in self.graph.outlets])
        note = read_note(self._spark, self._checkpoint, "microbatch")
        for outlet in self.graph.outlets:
            if isinstance(outlet.sink, Prepares):
                made = self._dry_runs[outlet.after]
                outlet.sink.prepare(self._spark, Incoming(made.output, made.unique, note.job))
        write_note(self._spark, self._checkpoint, note)
        for name, tried in self._dry_runs.items():
            if tried.groups is not None:
                log.warning(PER_BATCH, name, tried.groups)
        return plan

    def _start(self, plan: Plan) -> None:
        self._plan, self._warming = plan, WARM_UP_BATCHES
        self._stopping.clear()
        self._held.clear()
        self._ran = -1
        began, source = self.now(), self.graph.source.stream(self._spark)
        writer = (
            source.writeStream.foreachBatch(self._on_batch)
            .option("checkpointLocation", self._checkpoint)
            .trigger(processingTime=f"{round(self._batch_seconds * 1e3)} milliseconds")
            .queryName(self.graph.name)
        )
        with temporary_settings(self._spark, SETTINGS):  # batches run in a session that is copied from this one
            self._query = writer.start()
        self._monitor.begin(self._query, began)

    def stop(self) -> None:
        """Stop after the batch that runs, if it ends in time: one that is interrupted runs again at the next start."""
        if self._query is None:
            return
        self._stopping.set()
        self._between_batches.wait(STOP_SECONDS)
        until = time.monotonic() + COMMIT_SECONDS
        while not self._is_written_down(self._query) and time.monotonic() < until:
            self._held.wait(LOOK_SECONDS)
        with _muted_gateway():
            self._query.stop()

    def _is_written_down(self, query: StreamingQuery) -> bool:
        """Whether no batch that was run would run again."""
        if self._ran < 0 or self._held.is_set() or not query.isActive:
            return True
        progress = query._jsq.lastProgress()
        return progress is not None and int(progress.batchId()) >= self._ran

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
        if self._stopping.is_set():
            self._hold()
        self._between_batches.clear()
        try:
            if number % self._progress_batches == 0:
                with suppress(Exception):  # whoever reads samples is told what is wrong with it; the batch runs
                    self._monitor.take_progress()
            self._try_batch(frame, number)
            self._ran = number
        except Exception:
            if self._stopping.is_set():
                raise RuntimeError(INTERRUPTED) from None
            raise
        finally:
            self._between_batches.set()

    def _hold(self) -> NoReturn:
        """A batch that comes while the job is being stopped is not begun."""
        self._held.set()
        until = time.monotonic() + STOP_SECONDS
        while self._query is not None and self._query.isActive and time.monotonic() < until:
            time.sleep(LOOK_SECONDS)
        raise RuntimeError(INTERRUPTED)

    def _try_batch(self, frame: DataFrame, number: int) -> None:
        """Run a batch, again if it fails: what was wrong may pass, such as a broker that was away."""
        for attempt in range(ATTEMPTS):
            try:
                self._run_batch(frame, number, self._metering and not attempt)  # it may be measuring that failed
                return
            except Exception as error:
                self._meter.discard()
                if self._stopping.is_set():
                    raise
                if attempt + 1 == ATTEMPTS:
                    self._failed = error
                    raise RuntimeError(in_one_line(error)) from None
                log.warning("batch %d of %s failed and is run again: %s", number, self.graph.name, in_one_line(error))
            if self._stopping.wait(PAUSE_SECONDS * 2**attempt):
                raise RuntimeError(INTERRUPTED)

    def _run_batch(self, frame: DataFrame, number: int, may_be_measured: bool) -> None:
        with self._lock:  # the plan of a batch is that of its beginning
            plan, warm_up = self.plan(), self._warming > 0
            self._warming = max(0, self._warming - 1)
        began = self.now()
        running = Running(began, plan, warm_up)
        self._monitor.begins(running)
        self._partitions.append(_partitions(frame))
        # The time of the batch, not of the record: a stage that is run again, as an executor was lost, must make the
        # same rows. Spark spreads rows by what they hold: other ones would be lost, or come twice.
        self._taken.set(round(1e3 * began))
        measured = may_be_measured and self._monitor.is_measured()
        metered = measured and self._monitor.is_metered(running)
        with without_call_sites():
            frame = self._scan.of(frame, self._query)  # the first batch may begin before the query is known
            if measured:
                frame = self._created.sampled(frame)
        before = self._useful_seconds()
        outputs = {"": Output(frame, Partitioning(max(self._partitions)))}
        kept: list[DataFrame] = []
        try:
            if sum(not segment.after for segment in self._segments) > 1:
                kept.append(frame.persist(StorageLevel.MEMORY_AND_DISK))
                frame.count()
            ran = [
                self._run_segment(segment, plan, outputs, kept, number, measured, metered) for segment in self._segments
            ]
        finally:
            for one in kept:
                one.unpersist()
        batch = MicroBatch(began, self.now(), plan, records=0, warm_up=warm_up)
        self._monitor.add(RanBatch(batch, number, self._looked_at(ran, before, metered) if measured else None))

    def _looked_at(self, ran: Sequence[SegmentJobs | None], before: Mapping[str, float], metered: bool) -> Look:
        segments = tuple(each for each in ran if each is not None)
        shared = [chain for each in segments for chain in each.chains if len(chain.operators) > 1]
        return Look(
            segments,
            self._created.taken(),
            {name: seconds - before[name] for name, seconds in self._useful_seconds().items()},
            self._meter.taken([name for chain in shared for name in chain.operators]) if metered else None,
        )

    def _run_segment(
        self, segment: Segment, plan: Plan, outputs: dict[str, Output], kept: list[DataFrame],
        number: int, measured: bool, metered: bool,
    ) -> SegmentJobs | None:  # fmt: skip
        """One Spark job over the stages of the segment; what others read afterwards is kept for the batch.

        The jobs of a batch that is not measured are not looked up; only one that is `metered` is measured inside.
        """
        first, *others = (outputs[parent] for parent in segment.after or ("",))
        frame = first.frame
        lies = united([each.lies for each in (first, *others)])
        found = chains(segment, self.graph, self._dry_runs, plan, lies, chaining=self._chaining)
        with without_call_sites():
            for other in others:
                frame = frame.unionByName(other.frame)
            for chain in found:
                frame = self._behind(chain, frame, metered=metered and len(chain.operators) > 1)
        counted, tag = None, f"penstock-{self.graph.name}-{number}-{segment.name}"
        with self._stages.tagged(tag) if measured else nullcontext(list[JobRange]()) as jobs:
            if segment.feeds or len(segment.sinks) > 1 or any(sink.reads_again for sink in segment.sinks):
                kept.append(frame.persist(StorageLevel.MEMORY_AND_DISK))
                outputs[segment.name] = Output(frame, found[-1].behind)
                counted = frame.count()
            for sink in segment.sinks:
                sink.write(frame, number)
        return SegmentJobs(segment, found, jobs[0], counted) if jobs else None

    def _behind(self, chain: Chain, frame: DataFrame, metered: bool) -> DataFrame:
        """What the operators of a chain make of the frame, measured inside or not."""
        if chain.exchange is Exchange.COALESCE:
            frame = frame.coalesce(chain.parallelism)
        elif chain.exchange is Exchange.SHUFFLE:
            frame = frame.repartition(chain.parallelism, *chain.key)
            if any(self._dry_runs[name].filters for name in chain.operators):
                # The optimiser would carry the filters through the shuffle in front of them, to run them with the
                # parallelism of another operator. It does not move them past a condition that is not deterministic.
                frame = frame.where(self._barrier)
        for name in chain.operators:
            step = self.graph.steps[name]
            frame = self._meter.around(step, frame) if metered else step.function(frame)
        return frame

    def _useful_seconds(self) -> dict[str, float]:
        """Useful seconds so far of the operators that measure themselves."""
        tried = self._dry_runs.items()
        return {name: sum(meter.useful_seconds for meter in each.meters) for name, each in tried if each.meters}


def _partitions(frame: DataFrame) -> int:
    """How many partitions the records of a batch lie in. Spark hands over a batch as an RDD that it has planned."""
    count: int = frame._jdf.queryExecution().logical().rdd().getNumPartitions()
    return count


@contextmanager
def _muted_gateway() -> Iterator[None]:
    """An interrupted batch is no error worth a page of text."""
    gateway = logging.getLogger("py4j.clientserver")
    gateway.disabled = True
    try:
        yield
    finally:
        gateway.disabled = False
