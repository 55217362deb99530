"""One segment of a real-time job as one streaming query: built, started, stopped, and its batches read."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter
from pyspark.sql.types import StructType

from penstock.model import Latency, Plan
from penstock.spark.executors.state_holders import state_holders
from penstock.spark.failure import in_one_line, place_of_failure
from penstock.spark.graph import Graph
from penstock.spark.io.kafka_topic import HEADERS, Kafka, message
from penstock.spark.job_note import Place
from penstock.spark.measure.jvm_clock import now
from penstock.spark.measure.progress import BatchProgress, ProgressReader
from penstock.spark.measure.stages import StageReader
from penstock.spark.measure.stamp import STAMP, stamp
from penstock.spark.realtime.checkpoint import records_by_topic
from penstock.spark.realtime.log_levels import muted
from penstock.spark.realtime.meter import Meter
from penstock.spark.realtime.segment_batch import OperatorBatch, SegmentBatch
from penstock.spark.realtime.shuffles import explained, inner_shuffles, marked
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
    metered        those of its operators whose records are counted and timed
    checkpoint     the folder of its query
    """

    segment: Segment
    place: Place
    source: Kafka
    schema: StructType | None
    internal_sink: Kafka | None
    latency_at: str | None
    metered: tuple[str, ...]
    checkpoint: str

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
    """Runs one segment with whatever plan it is started with, always from the same checkpoint."""

    def __init__(self, spark: SparkSession, graph: Graph, wiring: Wiring, batch_seconds: float, metering: bool) -> None:
        self.wiring = wiring
        self.segment = wiring.segment
        self._spark = spark
        self._graph = graph
        self._milliseconds = round(1000 * batch_seconds)
        self._meter = Meter(spark, wiring.metered) if metering else None
        self._query: StreamingQuery | None = None
        self._progress: ProgressReader | None = None
        self._stages = StageReader(spark.sparkContext)
        self._committed = -1  # batches up to this one are not run again
        self._first: int | None = None  # the number of the first batch of this run
        self.started_at = 0.0
        self.readers = 1  # partitions of all topics that it reads
        self.shuffles: dict[str, int] = {}  # partitions of the shuffles inside each operator that has some

    def slots_needed(self, plan: Plan) -> int:
        """A slot for each partition that it reads, for each instance, and for each partition of an inner shuffle."""
        return self.readers + sum(plan[name] for name in self.segment.operators) + sum(self.shuffles.values())

    def count_shuffles(self, partitions: int | None) -> None:
        """Ask Spark for the shuffles inside the operators; `partitions` is what the checkpoint says of them."""
        plan = marked(self.segment.operators)
        self.shuffles = inner_shuffles(explained(self.frame(plan), partitions), plan.parallelism)

    def frame(self, plan: Plan) -> DataFrame:
        """The stream behind the last operator."""
        frame, meter = self._input(), self._meter
        for name in self.segment.operators:
            step = self._graph.steps[name]
            frame = frame.repartition(plan[name], *step.key)
            if meter is None:
                frame = step.function(frame)
            else:
                frame = meter.around(name, step.function, frame, last=name == self.wiring.latency_at)
        return frame

    def start(self, plan: Plan, prepared: DataStreamWriter | None = None) -> None:
        """Begin, or go on from the checkpoint."""
        prepared = prepared or self.prepare(plan)
        settings = {"spark.sql.streaming.realTimeMode.minBatchDuration": f"{self._milliseconds}ms", **KEEP_EVERY_STAGE}
        self.started_at, self._first = time.time(), None
        with temporary_settings(self._spark, settings):
            self._query = prepared.start()
        self._progress = ProgressReader(self._query, self._committed)

    def prepare(self, plan: Plan) -> DataStreamWriter:
        """Everything that a start needs and that can be done before it: a segment to be restarted runs on meanwhile."""
        writer: DataStreamWriter = (
            self._messages(self.frame(plan)).writeStream.format("kafka").options(**self._writer_options())
            .option("checkpointLocation", self.wiring.checkpoint).outputMode("update")
            .trigger(realTime=f"{self._milliseconds} milliseconds")  # type: ignore[call-overload]
            .queryName(f"{self._graph.name}: {self.segment.name}")
        )  # fmt: skip
        return writer

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

    def new_batches(self) -> list[SegmentBatch]:
        """The batches that ended since the last call."""
        fresh = [] if self._progress is None else self._progress.new()
        if fresh and self._first is None:
            self._first = fresh[0].number
        return [self._batch(progress) for progress in fresh]

    def _input(self) -> DataFrame:
        source = self.wiring.source
        if self.wiring.schema is None:
            stamped = stamp(source.created, now(self._spark))
            if self._meter is not None:
                stamped = F.when(self._meter.chosen(self._spark), stamped)
            everything = replace(source, max_records_per_batch=None)  # Spark refuses a limit in real time
            return everything.stream(self._spark).withColumn(STAMP, stamped)
        return unpacked(source.reader(self._spark, self.wiring.reads).load(), self.wiring.schema)

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
            self._meter.expect(round(progress.records))
        return SegmentBatch(
            number=progress.number,
            warm_up=progress.number == self._first,
            start=progress.start,
            end=progress.end,
            records_in=round(progress.records),
            began_at=records_by_topic(source.start for source in progress.sources) or None,
            consumed=records_by_topic(source.end for source in progress.sources),
            operators=self._operators(progress),
            processing=latency.get("processing"),
            event=latency.get("event"),
        )

    def _operators(self, progress: BatchProgress) -> dict[str, OperatorBatch]:
        names, meter, records = self.segment.operators, self._meter, round(progress.records)
        operators = {}
        for name, cpu_seconds in zip(names, self._cpu_seconds(progress), strict=True):
            inside = None if meter is None else meter.inside(name)
            seconds = None
            if inside is not None:
                records, seconds = inside.records_out, inside.seconds_per_record
            operators[name] = OperatorBatch(records, seconds, cpu_seconds)
        return operators

    def _cpu_seconds(self, progress: BatchProgress) -> Sequence[float | None]:
        """CPU seconds of each operator in one batch.

        A segment is a line of stages: one that reads the topics, then one for each operator, the shuffles between them
        included. An operator that shuffles inside has more than one stage. It is not known then which stage belongs to
        which operator, and the figures are None.
        """
        batch, operators = progress.number, len(self.segment.operators)
        stages = self._stages.of_batches(progress.run, batch, batch).get(batch, [])
        if len(stages) != operators + 1:
            return (None,) * operators
        return [stage.cpu_seconds for stage in stages[1:]]
