"""A stateful native query that changes the partitions of its state: a clean stop, a repartition, a new start.

The query is given as a function of the plan; Penstock starts it, since only it knows when. All stateful operators of
one query share one number of partitions, so to the loop they are one operator.
"""

from __future__ import annotations

import logging
import math
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from penstock.control.clock import Stopwatch, WallClock
from penstock.control.ports import Clock
from penstock.control.think import sentence
from penstock.model import Actuation, Execution, Operator, PenstockError, Plan, Sample, Topology
from penstock.spark.attached.monitor import JOB, QueryMonitor
from penstock.spark.attached.stage_work import StageWork
from penstock.spark.cluster.executors import Executor
from penstock.spark.engine import Engine
from penstock.spark.stateful.state_checkpoint import PARTITIONS, Checkpoint, Underway

log = logging.getLogger("penstock")

STATE = "state"
"""What plans and samples call the stateful operators of the query."""

WAIT_SECONDS = 1
LOOK_SECONDS = 0.005
"""How often a batch is asked whether it has ended: the next one begins at once if records wait."""

KEPT = 100

PROVIDER = "spark.sql.streaming.stateStore.providerClass"
NO_ROCKSDB = (
    f"{PROVIDER} must be org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider: "
    "Spark repartitions no other state"
)
NO_FILE_SINK = (
    "the file sink cannot follow a repartition, which is a batch that it never hears of: "
    "write with foreachBatch, one folder for each batch"
)

Build = Callable[[SparkSession, Plan], DataStreamWriter]
"""Makes the query for a plan, up to its sink. Checkpoint and start are not its business."""


class QueryEndedError(PenstockError):
    """The query failed or was stopped by somebody else."""


@dataclass(frozen=True)
class Cost:
    """Seconds that a change took: until the running batch had ended, for the state, until the query was started."""

    before: int
    after: int
    stop_seconds: float
    repartition_seconds: float
    start_seconds: float

    @property
    def seconds(self) -> float:
        return self.stop_seconds + self.repartition_seconds + self.start_seconds


class NativeQuery(Engine):
    """Monitor, actuator and clock of one query. `changes` keeps what the last changes cost.

    partitions     of the state at first; a checkpoint that exists knows better
    bounds         the fewest and the most partitions
    batch_seconds  how long a batch may take: half of the event latency that is asked for is a good choice
    """

    execution = Execution.IN_TURN
    actuation = Actuation.STATE_REPARTITION

    def __init__(
        self,
        spark: SparkSession,
        build: Build,
        checkpoint: str,
        *,
        partitions: int = 2,
        bounds: tuple[int, int] = (1, 16),
        batch_seconds: float = 5.0,
        clock: Clock | None = None,
    ) -> None:
        least, most = bounds
        operator = Operator(
            STATE, min=least, max=most, stateful=True, actuation=Actuation.STATE_REPARTITION, tie=STATE
        )  # fmt: skip
        self.topology = Topology((operator,))
        self.changes: deque[Cost] = deque(maxlen=KEPT)
        self._spark = spark
        self._build = build
        self._checkpoint = Checkpoint(spark, checkpoint)
        self._partitions = partitions
        self._batch_seconds = batch_seconds
        self._clock = clock or WallClock()
        self._query: StreamingQuery | None = None
        self._changing = False
        self._monitor: QueryMonitor | None = None

    @property
    def query(self) -> StreamingQuery:
        """The query as it runs now; after a change it is another one."""
        if self._query is None:
            raise PenstockError("the query has not been started")
        return self._query

    def start(self) -> None:
        """Start the query, or start it again from its checkpoint.

        A change that was interrupted is finished first; if that cannot be, it is undone.
        """
        if not str(self._spark.conf.get(PROVIDER)).endswith("RocksDBStateStoreProvider"):
            raise PenstockError(NO_ROCKSDB)
        if (change := self._checkpoint.underway) is not None:
            try:
                self._repartition(change)
            except Exception as error:
                log.warning("the change to %d partitions is undone: %s", change.after, sentence(error))
                self._checkpoint.undo()
        self._partitions = self._checkpoint.partitions or self._partitions
        self._run()

    def stop(self) -> None:
        """Stop after the batch that is running."""
        query = self.query
        finished = _batches_finished(query)
        while query.isActive and query.status["isTriggerActive"] and _batches_finished(query) == finished:
            time.sleep(LOOK_SECONDS)
        query.stop()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the query ends, so long at most; True if it has ended. A change does not end it."""
        end = math.inf if seconds is None else self.now() + seconds
        while self.now() < end:
            query = self.query
            if query.awaitTermination(WAIT_SECONDS) and query is self._query and not self._changing:
                return True
        return False

    def now(self) -> float:
        return self._clock.now()

    # Actuator ---------------------------------------------------------------------------------------------------

    def plan(self) -> Plan:
        return Plan({STATE: self._partitions})

    def apply(self, plan: Plan) -> None:
        after = self.topology.clamp(STATE, plan[STATE])
        if after == self._partitions:
            return
        if self._query is None:  # it starts with this plan, unless its checkpoint knows better
            self._partitions = after
            return
        _refuse_failed(self.query)
        self._changing = True
        try:
            self._change(Underway(self._partitions, after))
        finally:
            self._changing = False

    def _change(self, change: Underway) -> None:
        watch = Stopwatch()
        self.stop()
        if not self._checkpoint.whole:  # the next batch was quicker than we were
            self._finish_batch()
        stopped = watch.lap_ms()
        self._checkpoint.begin(change)
        try:
            self._repartition(change)
        except Exception:
            self._checkpoint.undo()
            self._run()
            raise
        repartitioned = watch.lap_ms()
        self._partitions = change.after
        self._run()
        times = (stopped / 1e3, repartitioned / 1e3, watch.lap_ms() / 1e3)
        self.changes.append(Cost(change.before, change.after, *times))

    # Monitor ----------------------------------------------------------------------------------------------------

    def read(self) -> Sequence[Sample]:
        if self._monitor is None:
            raise PenstockError("the query has not been started")
        _refuse_failed(self.query)
        return [
            replace(sample, operators={STATE: sample.operators[JOB]}, executors=None) for sample in self._monitor.read()
        ]

    # ------------------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        with self._partitioned():
            query = self._writer().start()
        if str(query._jsq.streamingQuery().sink()).startswith("FileSink"):
            query.stop()
            raise PenstockError(NO_FILE_SINK)
        work = StageWork(self._spark.sparkContext, str(query.runId))
        slots = [Executor(id=STATE, slots=self._partitions)]
        self._query = query
        self._monitor = QueryMonitor(query, work, lambda: slots, self._clock, self._batch_seconds)

    def _writer(self) -> DataStreamWriter:
        return self._build(self._spark, self.plan()).option("checkpointLocation", self._checkpoint.location)

    @contextmanager
    def _partitioned(self) -> Iterator[None]:
        """A query takes the session's settings along when it starts; those of other queries stay as they were."""
        before = str(self._spark.conf.get(PARTITIONS))
        self._spark.conf.set(PARTITIONS, self._partitions)
        try:
            yield
        finally:
            self._spark.conf.set(PARTITIONS, before)

    def _finish_batch(self) -> None:
        """Run the batch that was broken off, and no other: only a whole checkpoint can be repartitioned."""
        with self._partitioned():
            query = self._writer().trigger(once=True).start()
        query.awaitTermination()

    def _repartition(self, change: Underway) -> None:
        """Bring the state to its new partitions, from the beginning or from where it was interrupted."""
        if self._checkpoint.partitions != change.after:
            self._spark._streamingCheckpointManager.repartition(self._checkpoint.location, change.after)
        self._checkpoint.end()


def _batches_finished(query: StreamingQuery) -> int:
    progress = query._jsq.lastProgress()
    return -1 if progress is None else int(progress.batchId())


def _refuse_failed(query: StreamingQuery) -> None:
    if not query.isActive:
        error = query.exception()
        raise QueryEndedError("the query has ended" if error is None else f"the query has failed: {error}")
