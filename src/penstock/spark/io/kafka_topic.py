"""A Kafka topic as the source or the sink of a pipeline, in both engines.

>>> kafka("clicks", servers="localhost:9092", max_records_per_batch=10_000).topic
'clicks'
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import ClassVar

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.streaming.readwriter import DataStreamReader
from pyspark.sql.types import (
    BinaryType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from penstock.model import FrozenMap, InvalidValueError
from penstock.model.keywords import knows_its_keywords
from penstock.spark.measure.stamp import STAMP
from penstock.spark.topics.offsets import Offsets

# A broker that goes away comes back: the connector's own retries (three, one second apart) end too soon.
RETRIES = {"fetchOffset.numRetries": "60", "fetchOffset.retryIntervalMs": "500"}
# Clients that reconnect soon see the broker soon.
RECONNECT = {"kafka.reconnect.backoff.ms": "50", "kafka.reconnect.backoff.max.ms": "500"}

# Spark does not complain of an option that its connector does not have, and `startingOffset` changes nothing.
CONNECTOR_OPTIONS = (
    "failOnDataLoss", "fetchOffset.numRetries", "fetchOffset.retryIntervalMs", "groupIdPrefix", "includeHeaders",
    "kafkaConsumer.pollTimeoutMs", "maxOffsetsPerTrigger", "maxRecordsPerPartition", "maxTriggerDelay",
    "minOffsetsPerTrigger", "minPartitions", "startingOffsets", "startingOffsetsByTimestamp",
    "startingOffsetsByTimestampStrategy", "startingTimestamp",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Kafka:
    """A topic.

    topic                  its name
    servers                brokers to begin with, as host:port, separated by commas
    max_records_per_batch  the most that one micro-batch takes; real time takes what there is
    options                further options of Spark's connector; those that begin with `kafka.` go to Kafka's clients

    A job that starts for the first time reads from the oldest record on: a start that fails half-way, and is made
    again, then loses nothing. `startingOffsets` among the options changes that.
    """

    topic: str
    servers: str
    max_records_per_batch: int | None = None
    options: Mapping[str, str] = field(default_factory=FrozenMap)

    created: ClassVar[str] = "timestamp"
    reads_again: ClassVar[bool] = False
    schema: ClassVar[StructType] = StructType([
        StructField("key", BinaryType()),
        StructField("value", BinaryType()),
        StructField("topic", StringType()),
        StructField("partition", IntegerType()),
        StructField("offset", LongType()),
        StructField("timestamp", TimestampType()),
    ])  # fmt: skip

    def __post_init__(self) -> None:
        for name in ("topic", "servers"):
            if not isinstance(getattr(self, name), str) or not getattr(self, name):
                raise InvalidValueError(f"kafka: {name}", f"must be text, not {getattr(self, name)!r}")

    def stream(self, spark: SparkSession) -> DataFrame:
        """The unbounded frame of its records, with Kafka's own columns."""
        reader = self.reader(spark, [self.topic])
        if self.max_records_per_batch is not None:
            reader = reader.option("maxOffsetsPerTrigger", self.max_records_per_batch)
        return reader.load().select(self.schema.names)

    def reader(self, spark: SparkSession, topics: Iterable[str]) -> DataStreamReader:
        """A reader of these topics of the same brokers."""
        options = {"startingOffsets": "earliest", "failOnDataLoss": "true", **RETRIES, **RECONNECT, **self.options}
        return (
            spark.readStream.format("kafka").options(**options)
            .option("kafka.bootstrap.servers", self.servers).option("subscribe", ",".join(topics))
        )  # fmt: skip

    def backlog(self, offset: Mapping[str, Mapping[str, int]], now: float) -> float | None:
        """Records in the topic beyond those that a query has read; None while the brokers do not answer."""
        ends = _offsets(self.servers).ends([self.topic])
        read = sum(offset.get(self.topic, {}).values())
        return None if ends is None else float(max(0, ends[self.topic] - read))

    def write(self, frame: DataFrame, batch: int) -> None:
        """Append one batch. Kafka does not know batches: after a crash one may be appended twice."""
        as_messages(frame).write.format("kafka").options(**self.writer_options).save()

    @property
    def writer_options(self) -> dict[str, str]:
        clients = {name: value for name, value in self.options.items() if name.startswith("kafka.")}
        return {**RECONNECT, **clients, "kafka.bootstrap.servers": self.servers, "topic": self.topic}


@knows_its_keywords("Spark's guide to the Kafka connector", CONNECTOR_OPTIONS, prefix="kafka.")
def kafka(topic: str, *, servers: str, max_records_per_batch: int | None = None, **options: str) -> Kafka:
    """A topic as source or sink of a pipeline."""
    return Kafka(
        topic, servers, max_records_per_batch, FrozenMap({name: str(value) for name, value in options.items()})
    )


@cache
def _offsets(servers: str) -> Offsets:
    return Offsets(servers)


def as_messages(frame: DataFrame) -> DataFrame:
    """The messages that a frame becomes in Kafka."""
    return frame.select(*message(frame))


def message(frame: DataFrame) -> tuple[Column, Column]:
    """Key and value: `key` and `value` as they are; without a `value`, all columns but the stamp as JSON."""
    if "value" in frame.columns:
        key = F.col("key") if "key" in frame.columns else F.lit(None)
        return key.cast("binary").alias("key"), F.col("value").cast("binary").alias("value")
    row = F.struct(*(F.col(name) for name in frame.columns if name != STAMP))
    return F.lit(None).cast("binary").alias("key"), F.to_json(row).cast("binary").alias("value")
