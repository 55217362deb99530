"""A segment of a real-time job as one streaming query: built, started, stopped, and its batches read."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter
from pyspark.sql.types import StructType

from penstock.model import Latency, Plan
from penstock.spark.chains import Chain, Exchange
from penstock.spark.executors.state_holders import state_holders
from penstock.spark.failure import in_one_line, place_of_failure
from penstock.spark.graph import Graph
from penstock.spark.io.kafka_topic import HEADERS, Kafka, message
from penstock.spark.job_note import Place
from penstock.spark.measure.jvm_clock import now
from penstock.spark.measure.progress import BatchProgress, ProgressReader, SourceProgress, read_progress
from penstock.spark.measure.stages import StageReader
from penstock.spark.measure.stamp import STAMP, stamp
from penstock.spark.realtime.attribution import attribute
from penstock.spark.realtime.checkpoint import Committed, PartitionOffsets, committed, records_by_topic
from penstock.spark.realtime.cut import Cut, from_offsets
from penstock.spark.realtime.generations import Generation, offset_in
from penstock.spark.realtime.log_levels import muted
from penstock.spark.realtime.meter import Meter
from penstock.spark.realtime.segment_batch import OperatorBatch, SegmentBatch
from penstock.spark.realtime.wire import packed, unpacked
from penstock.spark.segments import Segment
from penstock.spark.settings import KEEP_EVERY_STAGE, temporary_settings


@dataclass(frozen=True, slots=True)
class Wiring:
    """The topics and the checkpoint of a segment.

    segment        its operators
    place          where it lies: its folder and the names of its topics
    source         the topic, or the internal topics, that it reads; all of the same brokers
    schema         the columns of what internal topics carry; None: this is the pipeline's own source
    internal_sink  the internal topic for other segments; None: no segment reads its output
    latency_at     the operator at which the latency of the job is measured, if it is in this segment
    metered        those of its operators whose records are counted and timed, with whomever they share their instances;
                   of the others as many leave as come, and their time has to be told from that of others only
    """

    segment: Segment
    place: Place
    source: Kafka
    schema: StructType | None
    internal_sink: Kafka | None
    latency_at: str | None
    metered: tuple[str, ...]

    @property
    def reads(self) -> tuple[str, ...]:
        """The names of the topics that it reads."""
        return self.place.reads

    @property
    def outputs(self) -> tuple[Kafka, ...]:
        """Every topic that its output goes to, the internal one first."""
        internal = () if self.internal_sink is None else (self.internal_sink,)
        return (*internal, *(sink for sink in self.segment.sinks if isinstance(sink, Kafka)))

    @property
    def writes(self) -> tuple[str, ...]:
        return tuple(output.topic for output in self.outputs)


class SegmentQuery:
    """One generation of a segment: runs with whatever plan it is started with, always from the same checkpoint."""

    def __init__(
        self,
        spark: SparkSession,
        graph: Graph,
        wiring: Wiring,
        batch_seconds: float,
        metering: bool,
        generation: Generation,
        checkpoint: str,
        can_be_cut: bool,
        chains: Callable[[Plan], tuple[Chain, ...]],
    ) -> None:
        """
        can_be_cut  whether it asks for a cut while it runs
        chains      which of its operators share their instances under a plan
        """
        self.wiring = wiring
        self.segment = wiring.segment
        self.generation = generation
        self.until: PartitionOffsets | None = None  # from these offsets on, records are those of the next generation
        self.cut: Cut | None = None  # of this run
        self.told_in = -1  # the last batch that had ended when all executors knew the cut
        self._prepared_cut: Cut | None = None
        self._can_be_cut = can_be_cut
        self._checkpoint = checkpoint
        self._spark = spark
        self._graph = graph
        self._milliseconds = round(1000 * batch_seconds)
        self._meter = Meter(spark) if metering else None
        self._chains_of = chains
        self.chains: tuple[Chain, ...] = ()  # of this run
        self._prepared_chains: tuple[Chain, ...] = ()
        self._query: StreamingQuery | None = None
        self._progress: ProgressReader | None = None
        self._stages = StageReader(spark.sparkContext)
        self._committed = -1  # batches up to this one are not run again
        self._first: int | None = None  # the number of the first batch of this run
        self.started_at = 0.0
        self.plan: Plan | None = None  # with which it was started last
        self.expected: int | None = None  # records of a batch

    def frame(self, chains: Sequence[Chain]) -> DataFrame:
        """The stream behind the last operator."""
        frame, meter = self._input(), self._meter
        for chain in chains:
            if chain.exchange is Exchange.SHUFFLE:
                frame = frame.repartition(chain.parallelism, *chain.key)
            for name in chain.operators:
                function = self._graph.steps[name].function
                if meter is None:
                    frame = function(frame)
                    continue
                metered, counted = name in self._metered(chain), name in self.wiring.metered
                last = name == self.wiring.latency_at
                frame = meter.around(name, function, frame, metered=metered, counted=counted, last=last)
        return frame

    def _metered(self, chain: Chain) -> tuple[str, ...]:
        """Of operators that share a stage its CPU time does not tell which took how much of it."""
        if len(chain.operators) > 1:
            return chain.operators
        return tuple(name for name in chain.operators if name in self.wiring.metered)

    def start(self, plan: Plan, prepared: DataStreamWriter | None = None) -> None:
        """Begin, or go on from the checkpoint."""
        prepared = prepared or self.prepare(plan)
        settings = {"spark.sql.streaming.realTimeMode.minBatchDuration": f"{self._milliseconds}ms", **KEEP_EVERY_STAGE}
        self.started_at, self._first, self.plan = time.time(), None, plan
        with temporary_settings(self._spark, settings):
            self._query = prepared.start()
        self.cut, self.chains = self._prepared_cut, self._prepared_chains
        self._progress = ProgressReader(self._query, self._committed)

    def prepare(self, plan: Plan) -> DataStreamWriter:
        """Everything that a start needs and that can be done before it: a segment to be restarted runs on meanwhile."""
        number, name = self.generation.number, f"{self._graph.name}: {self.segment.name}"
        self._prepared_cut = Cut(self._spark) if self._can_be_cut else None  # each run has its own
        self._prepared_chains = self._chains_of(plan)
        writer: DataStreamWriter = (
            self._messages(self.frame(self._prepared_chains)).writeStream.format("kafka").options(**self._writer_options())
            .option("checkpointLocation", self._checkpoint).outputMode("update")
            .trigger(realTime=f"{self._milliseconds} milliseconds")  # type: ignore[call-overload]
            .queryName(f"{name} #{number}" if number else name)  # two queries must not have one name
        )  # fmt: skip
        return writer

    def expect(self, records: int | None) -> None:
        """Batches that begin from now on have about as many records: some hundreds of them are timed."""
        self.expected = records
        if self._meter is not None and records is not None:
            self._meter.expect(records)

    def guess(self, records: float) -> None:
        """As long as no batch has ended, the next one is expected to have as many records as came during this one."""
        if self.expected is None and self._meter is not None:
            self._meter.expect(round(records))

    def stop(self) -> None:
        if self._query is not None:
            with muted(self._spark):
                self._query.stop()

    def rewind(self, batch: int) -> None:
        """After a stop, when its batches have been read: those after this one will be run again, and reported again."""
        self._query, self._progress, self._committed = None, None, batch
        if self._meter is not None:
            self._meter.discard()

    @property
    def running(self) -> bool:
        return self._query is not None and self._query.isActive

    @property
    def failure(self) -> str | None:
        """Why the query ended, in one line."""
        if self._query is None or (error := self._query.exception()) is None:
            return None
        return in_one_line(error)

    @property
    def place_of_failure(self) -> str | None:
        """The records that the failed query had to read; None if it is not known, or nothing failed."""
        return None if self._query is None else place_of_failure(self._query)

    def state_holders(self) -> set[str]:
        """The executors that hold its state."""
        return set() if self._query is None else state_holders(self._spark.sparkContext, self._query)

    @property
    def last_batch(self) -> int:
        """The number of the batch that ended last in this run; -1 if none has."""
        progress = self._query._jsq.lastProgress() if self._query is not None else None
        return -1 if progress is None else int(progress.batchId())

    @property
    def told(self) -> Mapping[str, str]:
        """The properties that tell it its cut; none as long as it has none."""
        return {} if self.cut is None or self.until is None else self.cut.properties(self.until)

    def committed(self) -> Committed | None:
        """What its next run goes on from; None: it has finished nothing."""
        return committed(self._spark, self._checkpoint)

    def ended_beyond(self, cut: PartitionOffsets) -> bool:
        """Whether a batch of this run has ended that had read everything before the cut. What a batch has read it has
        written when it ends, and not before."""
        progress = self._query._jsq.lastProgress() if self._query is not None else None
        if progress is None:
            return False
        read: dict[str, dict[str, int]] = {}
        for source in read_progress(json.loads(progress.json())).sources:
            read |= source.end or {}
        return all(
            offset_in(read, topic, partition, 0) >= offset
            for topic, partitions in cut.items()
            for partition, offset in partitions.items()
        )

    @property
    def works(self) -> bool:
        """Whether tasks of this run are at work, or a batch has ended: a query that lacks slots fails before that."""
        if self._query is None or self.last_batch >= 0:
            return self._query is not None
        tracker = self._spark.sparkContext.statusTracker()
        jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(str(self._query.runId))]
        stages = [tracker.getStageInfo(stage) for job in jobs if job is not None for stage in job.stageIds]
        return any(stage is not None and stage.numActiveTasks > 0 for stage in stages)

    def new_batches(self) -> list[SegmentBatch]:
        """The batches that ended since the last call."""
        fresh = [] if self._progress is None else self._progress.new()
        if fresh and self._first is None:
            self._first = fresh[0].number
        return [self._batch(progress) for progress in fresh]

    def _input(self) -> DataFrame:
        source, starts = self.wiring.source, self.generation.starts
        source = replace(source, max_records_per_batch=None)  # Spark refuses a limit in real time
        if starts is not None:
            source = source.starting_at(starts, self.wiring.reads)
        if self.wiring.schema is None:
            stamped = stamp(source.created, now(self._spark))
            if self._meter is not None:
                stamped = F.when(self._meter.chosen(self._spark), stamped)
            return self._own(source.stream(self._spark)).withColumn(STAMP, stamped)
        return unpacked(self._own(source.reader(self._spark, self.wiring.reads).load()), self.wiring.schema)

    def _own(self, records: DataFrame) -> DataFrame:
        """Those records of Kafka that are this generation's own."""
        if self._prepared_cut is not None:
            records = records.where(self._prepared_cut.passes())
        last = self.committed()
        if self.generation.skips(None if last is None else last.offsets):
            records = records.where(from_offsets(self.generation.first))
        return records

    def _messages(self, frame: DataFrame) -> DataFrame:
        """What goes to Kafka: each record once, or once for each topic if there are several."""
        messages = [message(frame)] * len(self.wiring.outputs)
        if self.wiring.internal_sink is not None:
            headers = messages[0][2:]  # whatever a row has is in the value
            value = packed(frame).cast("binary").alias("value")
            messages[0] = (
                F.lit(None).cast("binary").alias("key"),
                value,
                *(F.lit(None).cast(HEADERS.dataType).alias(HEADERS.name) for _ in headers),
            )
        if len(messages) == 1:
            return frame.select(*messages[0])
        addressed = [
            F.struct(F.lit(topic).alias("topic"), *both)
            for topic, both in zip(self.wiring.writes, messages, strict=True)
        ]  # fmt: skip
        return frame.select(F.inline(F.array(*addressed)))

    def _writer_options(self) -> dict[str, str]:
        options = self.wiring.outputs[0].writer_options
        if len(self.wiring.outputs) > 1:
            del options["topic"]  # each record says itself where it goes
        return options

    def _batch(self, progress: BatchProgress) -> SegmentBatch:
        latency: dict[str, Latency | None] = {}
        if self._meter is not None:
            latency = self._meter.latency()
            self.expect(round(progress.records))
        began_at = records_by_topic(self._owned(self._start_of(source)) for source in progress.sources)
        consumed = records_by_topic(self._owned(source.end) for source in progress.sources)
        records = self._records(progress)
        return SegmentBatch(
            number=progress.number,
            warm_up=progress.number == self._first,
            start=progress.start,
            end=progress.end,
            records_in=records,
            began_at=began_at or None,
            consumed=consumed,
            operators=self._operators(progress, records),
            processing=latency.get("processing"),
            event=latency.get("event"),
        )

    def _start_of(self, source: SourceProgress) -> PartitionOffsets:
        """Spark does not say where the first batch of all began."""
        return source.start or self.generation.starts or {}

    def _owned(self, offsets: PartitionOffsets | None) -> PartitionOffsets:
        return self.generation.owned(offsets or {}, self.until)

    def _records(self, progress: BatchProgress) -> int:
        """Its own records that a batch took: what it read before its first offset, or beyond its last one, it left to
        another generation."""
        read = own = 0
        for source in progress.sources:
            for offsets, sign in ((self._start_of(source), -1), (source.end or {}, 1)):
                read += sign * sum(records_by_topic([offsets]).values())
                own += sign * sum(records_by_topic([self._owned(offsets)]).values())
        return round(progress.records) if own == read else own

    def _operators(self, progress: BatchProgress, records: int) -> dict[str, OperatorBatch]:
        batch, inside = progress.number, {}
        if self._meter is not None:
            inside = {name: self._meter.inside(name) for chain in self.chains for name in self._metered(chain)}
        stages = self._stages.of_batches(progress.run, batch, batch).get(batch, [])
        counted = () if self._meter is None else self.wiring.metered
        return attribute(self.chains, stages, records, inside, counted)
