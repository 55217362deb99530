"""Runs a stateful native query and changes the partitions of its state: a clean stop, a repartition, a new start.

The query is given as a function of the plan, and the engine starts it, after each change again. All stateful operators
of one query share one number of partitions, so to the loop they are one operator.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import median

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from penstock.control.clock import Stopwatch
from penstock.control.think import sentence
from penstock.model import Actuation, Execution, InvalidValueError, PenstockError, Plan, Sample, Topology
from penstock.performance.state_price import FIXED_SECONDS
from penstock.spark.engine import SparkEngine
from penstock.spark.executors.slots import FixedSlots, SlotSupplier
from penstock.spark.executors.state_holders import state_holders
from penstock.spark.failure import JobFailedError, in_one_line
from penstock.spark.hadoop_folder import HadoopFolder
from penstock.spark.measure.query_monitor import QueryMonitor
from penstock.spark.measure.stages import StageReader
from penstock.spark.measure.trigger import trigger_of_writer
from penstock.spark.native.state_checkpoint import Checkpoint, Underway
from penstock.spark.settings import PARTITIONS, temporary_settings

log = logging.getLogger("penstock")

Build = Callable[[SparkSession, Plan], DataStreamWriter]

STATE = "state"
"""What plans and samples call the stateful operators of a query."""

WAIT_SECONDS = 1.0
LOOK_SECONDS = 0.005
"""How often to look whether a batch has ended: the next one begins immediately if records wait."""

BEGINS_WITHIN = 0.2
"""Seconds after its time in which a batch has begun, if there is anything to do."""

STOP_SECONDS = 600.0
"""So long a stop waits for the running batch."""

KEPT = 100

PROVIDER = "spark.sql.streaming.stateStore.providerClass"
NO_ROCKSDB = (
    f"{PROVIDER} must be org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider: "
    "Spark repartitions no other state"
)
NO_FILE_SINK = (
    "the file sink fails after a repartition, which is a batch that it has not seen: "
    "write with foreachBatch, one folder for each batch"
)
CHANGELOG = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"
"""With it a batch writes what it changed, and not all of its state: the first batch after a change as well."""
BLOCK_CACHE = "spark.sql.streaming.stateStore.rocksdb.blockCacheSizeMB"
"""Megabytes of memory that each partition of each state has for the blocks that it read, outside of the JVM's heap. A
query reads it when it starts. The memory that all states of an executor can share instead (`boundedMemoryUsage`) cannot
be changed like that: the first query that runs there settles it for as long as the executor lives."""
DEFAULT_BLOCK_CACHE_MB = 8


class QueryEndedError(PenstockError):
    """The query failed, or it was stopped elsewhere."""


@dataclass(frozen=True)
class RepartitionCost:
    """The seconds that a change took: to stop after the running batch, to repartition the state, to start again.

    With as many partitions after it as before, only the memory of the state changed.
    """

    before: int
    after: int
    stop_seconds: float
    repartition_seconds: float
    start_seconds: float

    @property
    def seconds(self) -> float:
        return self.stop_seconds + self.repartition_seconds + self.start_seconds


class NativeEngine(SparkEngine):
    """Runs one query. `changes` has what the last changes cost."""

    execution = Execution.SEQUENTIAL
    actuation = Actuation.STATE_REPARTITION

    def __init__(
        self,
        spark: SparkSession,
        build: Build,
        topology: Topology,
        checkpoint: str,
        *,
        batch_seconds: float | None = None,
        slots: SlotSupplier | None = None,
    ) -> None:
        """Nothing is started yet.

        build          makes the query for a session and a plan
        batch_seconds  from one batch to the next; None: the trigger that the query has
        slots          where slots come from; None: those that the application has
        """
        super().__init__(topology, slots or FixedSlots(spark))
        self.changes: deque[RepartitionCost] = deque(maxlen=KEPT)
        self._spark = spark
        self._build = build
        self._checkpoint = Checkpoint(spark, checkpoint)
        self._batch_seconds = batch_seconds
        self._query: StreamingQuery | None = None
        self._monitor: QueryMonitor | None = None
        self._stages = StageReader(spark.sparkContext)
        self._changing = threading.Lock()
        self._failure: str | None = None  # why the query could not be started again after a change

    @property
    def query(self) -> StreamingQuery:
        """The query as it runs now; after a change it is another one."""
        if self._query is None:
            raise PenstockError("the query has not been started")
        return self._query

    # The life of the job ----------------------------------------------------------------------------------------

    @cached_property
    def trigger_seconds(self) -> float:
        """Known before the start: the query is built once to see it."""
        return trigger_of_writer(self._writer(self.topology[STATE].min))

    @property
    def local_checkpoint(self) -> Path | None:
        return HadoopFolder(self._spark, self._checkpoint.location).local

    def _prepare(self, plan: Plan) -> Plan:
        """A checkpoint keeps the partitions that its state has.

        A change that was interrupted is finished first; if that cannot be done, it is undone.
        """
        if not str(self._spark.conf.get(PROVIDER)).endswith("RocksDBStateStoreProvider"):
            raise PenstockError(NO_ROCKSDB)
        if (change := self._checkpoint.underway) is not None:
            try:
                self._checkpoint.carry_out(change)
            except Exception as error:
                log.warning("the change to %d partitions is undone: %s", change.after, sentence(error))
                self._checkpoint.undo()
        return plan.changed({STATE: self._checkpoint.partitions or self.topology.clamp(STATE, plan[STATE])})

    def _start(self, plan: Plan) -> None:
        self._run(plan)

    def stop(self) -> None:
        """Stop after the batch that is running; a change that is being made comes to its end first."""
        with self._changing:
            self._stop()

    def wait(self, seconds: float | None = None) -> bool:
        end = math.inf if seconds is None else self.steady() + seconds
        while (left := min(end - self.steady(), WAIT_SECONDS)) >= 1e-3:  # Spark waits whole milliseconds
            query = self.query
            ended = query.awaitTermination(left)  # type: ignore[arg-type]  # it takes fractions too
            if ended and self._changing.acquire(timeout=left):
                self._changing.release()
                if self._failure is not None:
                    raise JobFailedError(self._failure)
                if query is self._query:  # else a change ended it
                    return True
        return False

    def notes(self) -> list[str]:
        source = "event latency is estimated from progress events, not measured on records; it is a mean"
        if not self.changes:
            return [source]
        took = [change.seconds for change in self.changes]
        return [f"a change stopped the query for {median(took):.1f} s in the median, {max(took):.1f} s at most", source]

    # Actuator ---------------------------------------------------------------------------------------------------

    def _change(self, plan: Plan) -> None:
        plan = plan.changed({STATE: self.topology.clamp(STATE, plan[STATE])})
        with self._changing:
            before = self.plan()
            if (plan[STATE], plan.memory_level) != (before[STATE], before.memory_level):
                _refuse_ended(self.query)
                self._restart(before, plan)

    def _restart(self, before: Plan, plan: Plan) -> None:
        prepared = self._writer(plan[STATE])  # while the old query works; if this fails, it works on
        self._let_due_batch_begin()
        watch = Stopwatch()
        self._stop()
        try:
            if plan[STATE] != before[STATE] and not self._checkpoint.whole:  # the next batch had already begun
                self._finish_batch()
            stopped = watch.lap_ms()
            if plan[STATE] != before[STATE]:
                self._repartition(Underway(before[STATE], plan[STATE]))
        except Exception:
            self._checkpoint.undo()
            self._run_again(before)
            raise
        repartitioned = watch.lap_ms()
        self._run_again(plan, prepared)
        times = (stopped / 1e3, repartitioned / 1e3, watch.lap_ms() / 1e3)
        self.changes.append(RepartitionCost(before[STATE], plan[STATE], *times))

    def _repartition(self, change: Underway) -> None:
        self._checkpoint.begin(change)
        self._checkpoint.carry_out(change)

    def _state_holders(self) -> set[str]:
        return set() if self._query is None else state_holders(self._spark.sparkContext, self._query)

    # Monitor ----------------------------------------------------------------------------------------------------

    def read(self) -> Sequence[Sample]:
        _refuse_ended(self.query)
        assert self._monitor is not None
        return self._monitor.read()

    # ------------------------------------------------------------------------------------------------------------

    def _writer(self, partitions: int) -> DataStreamWriter:
        try:
            writer = self._build(self._spark, Plan({STATE: partitions}))
        except Exception as error:
            raise InvalidValueError("build", f"fails for {partitions} partitions: {sentence(error)}") from error
        if not isinstance(writer, DataStreamWriter):
            raise InvalidValueError("build", f"must return a DataStreamWriter, not {type(writer).__name__}")
        if self._batch_seconds is not None:
            writer = writer.trigger(processingTime=f"{round(1e3 * self._batch_seconds)} milliseconds")
        trigger_of_writer(writer)  # refuses what does not go on in micro-batches
        return writer.option("checkpointLocation", self._checkpoint.location)

    def _started(self, plan: Plan, writer: DataStreamWriter) -> StreamingQuery:
        """A query keeps the settings that its session has when it starts."""
        changelog = self._spark.conf.get(CHANGELOG, None) or "true"
        settings = {PARTITIONS: str(plan[STATE]), CHANGELOG: changelog}
        if plan.memory_level:
            usual = int(self._spark.conf.get(BLOCK_CACHE, None) or DEFAULT_BLOCK_CACHE_MB)
            settings[BLOCK_CACHE] = str(usual * 2**plan.memory_level)
        with temporary_settings(self._spark, settings):
            return writer.start()

    def _run(self, plan: Plan, writer: DataStreamWriter | None = None) -> None:
        partitions = plan[STATE]
        query = self._started(plan, writer or self._writer(partitions))
        if str(query._jsq.streamingQuery().sink()).startswith("FileSink"):
            query.stop()
            raise PenstockError(NO_FILE_SINK)
        self._query, self._plan = query, Plan({STATE: partitions}, memory_level=plan.memory_level)
        self._monitor = QueryMonitor(
            query, self._stages, self, slots=lambda: partitions, executors=self.slots.executors, name=STATE
        )

    def _run_again(self, plan: Plan, writer: DataStreamWriter | None = None) -> None:
        """Start the query after it was stopped for a change. If that fails, the job has failed: nothing runs now."""
        try:
            self._run(plan, writer)
        except Exception as error:
            self._failure = f"the query was stopped for a change and could not be started again: {in_one_line(error)}"
            log.error(self._failure)
            raise

    def _let_due_batch_begin(self) -> None:
        """What has come until now is processed in time then, and the change takes the pause after that batch."""
        query, takes = self.query, [change.seconds for change in self.changes]
        wait = until_due(self.now(), self.trigger_seconds, median(takes) if takes else FIXED_SECONDS)
        until = self.steady() + (wait + BEGINS_WITHIN if wait else 0.0)
        while query.isActive and not query.status["isTriggerActive"] and self.steady() < until:
            time.sleep(LOOK_SECONDS)

    def _stop(self) -> None:
        query = self.query
        finished, until = _batches_finished(query), self.steady() + STOP_SECONDS
        while query.isActive and query.status["isTriggerActive"] and _batches_finished(query) == finished:
            if self.steady() > until:
                log.warning("a batch did not end within %.0f min and is interrupted: it runs again", STOP_SECONDS / 60)
                break
            time.sleep(LOOK_SECONDS)
        query.stop()

    def _finish_batch(self) -> None:
        """Run the batch that was interrupted, and no other: only a whole checkpoint can be repartitioned."""
        plan = self.plan()
        self._started(plan, self._writer(plan[STATE]).trigger(once=True)).awaitTermination()


def until_due(now: float, interval: float, takes: float) -> float:
    """Seconds until the next batch is due, if a change that takes so long would delay it; else 0.

    Spark begins batches at whole multiples of the interval.

    >>> until_due(now=1008.5, interval=10.0, takes=2.0), until_due(1003.0, 10.0, 2.0), until_due(1003.0, 0.0, 2.0)
    (1.5, 0.0, 0.0)
    """
    left = interval - now % interval if interval else 0.0
    return left if left < takes else 0.0


def _batches_finished(query: StreamingQuery) -> int:
    progress = query._jsq.lastProgress()
    return -1 if progress is None else int(progress.batchId())


def _refuse_ended(query: StreamingQuery) -> None:
    if not query.isActive:
        error = query.exception()
        raise QueryEndedError("the query has ended" if error is None else f"the query has failed: {error}")
