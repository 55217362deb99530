"""A Kafka topic as the source or the sink of a pipeline, in both engines.

>>> kafka("clicks", servers="localhost:9092", max_records_per_batch=10_000).topic
'clicks'
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, ClassVar

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.streaming.readwriter import DataStreamReader
from pyspark.sql.types import (
    ArrayType,
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
from penstock.spark.topics.admin_settings import admin_settings
from penstock.spark.topics.offsets import Offsets

# A broker that goes away comes back: the connector's own retries (three, one second apart) end too soon.
RETRIES = {"fetchOffset.numRetries": "60", "fetchOffset.retryIntervalMs": "500"}
# Clients that reconnect soon see the broker soon.
RECONNECT = {"kafka.reconnect.backoff.ms": "50", "kafka.reconnect.backoff.max.ms": "500"}

# Spark does not complain of an option that its connector does not have, and `startingOffset` changes nothing.
ELSEWHERE = ("subscribePattern", "assign")
"""Options that say which topics are read, in place of their names."""

CONNECTOR_OPTIONS = (
    *ELSEWHERE, "failOnDataLoss", "fetchOffset.numRetries", "fetchOffset.retryIntervalMs", "groupIdPrefix",
    "includeHeaders", "kafkaConsumer.pollTimeoutMs", "maxOffsetsPerTrigger", "maxRecordsPerPartition",
    "maxTriggerDelay", "minOffsetsPerTrigger", "minPartitions", "startingOffsets", "startingOffsetsByTimestamp",
    "startingOffsetsByTimestampStrategy", "startingTimestamp",
)  # fmt: skip


EARLIEST = -2
"""What Spark's connector takes for the offset of the oldest record."""

SCHEMA = StructType([
    StructField("key", BinaryType()),
    StructField("value", BinaryType()),
    StructField("topic", StringType()),
    StructField("partition", IntegerType()),
    StructField("offset", LongType()),
    StructField("timestamp", TimestampType()),
])  # fmt: skip

HEADERS = StructField(
    "headers", ArrayType(StructType([StructField("key", StringType()), StructField("value", BinaryType())]))
)


@dataclass(frozen=True, slots=True)
class Kafka:
    """A topic, or several.

    topic                  its name; those of several, with commas; empty: `subscribePattern` or `assign` says them
    servers                brokers to begin with, as host:port, separated by commas
    max_records_per_batch  the most that one micro-batch takes; real time takes what there is
    options                further options of Spark's connector; those that begin with `kafka.` go to Kafka's clients
    admin                  settings of librdkafka for the client that reads offsets, where `kafka.*` cannot say them

    A job that starts for the first time reads from the oldest record on: a start that fails half-way, and is made
    again, then loses nothing. `startingOffsets` among the options changes that.
    """

    topic: str
    servers: str
    max_records_per_batch: int | None = None
    options: Mapping[str, str] = field(default_factory=FrozenMap, repr=False)  # passwords among them
    admin: Mapping[str, str] = field(default_factory=FrozenMap, repr=False)

    created: ClassVar[str] = "timestamp"
    reads_again: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for name in ("topic", "servers"):
            if not isinstance(getattr(self, name), str):
                raise InvalidValueError(f"kafka: {name}", f"must be text, not {getattr(self, name)!r}")
        if not self.servers:
            raise InvalidValueError("kafka: servers", "must name a broker as host:port")
        if sum((bool(self.topic), *(name in self.options for name in ELSEWHERE))) != 1:
            raise InvalidValueError("kafka: topic", "must be named once: as topic, as subscribePattern or as assign")

    @property
    def schema(self) -> StructType:
        return StructType([*SCHEMA.fields, *([HEADERS] if self.options.get("includeHeaders") == "true" else [])])

    @property
    def topics(self) -> tuple[str, ...]:
        """The names of the topics; those that match a pattern are asked for."""
        if self.topic:
            return tuple(self.topic.split(","))
        if (pattern := self.options.get("subscribePattern")) is not None:
            return self.offsets.matching(pattern)
        return tuple(json.loads(self.options["assign"]))

    @property
    def client_options(self) -> Mapping[str, str]:
        """Those of the options that go to Kafka's clients."""
        return FrozenMap({name: value for name, value in self.options.items() if name.startswith("kafka.")})

    @property
    def admin_settings(self) -> dict[str, str]:
        """The settings of the client that reads offsets."""
        return {**admin_settings(self.options), **self.admin}

    @property
    def offsets(self) -> Offsets:
        return _offsets(self.servers, FrozenMap(self.admin_settings))

    def stream(self, spark: SparkSession) -> DataFrame:
        """The unbounded frame of its records, with Kafka's own columns."""
        reader = self.reader(spark, [self.topic])
        if self.max_records_per_batch is not None:
            reader = reader.option("maxOffsetsPerTrigger", self.max_records_per_batch)
        return reader.load().select(self.schema.names)

    def reader(self, spark: SparkSession, topics: Iterable[str]) -> DataStreamReader:
        """A reader of these topics of the same brokers."""
        options = {"startingOffsets": "earliest", "failOnDataLoss": "true", **RETRIES, **RECONNECT, **self.options}
        if self.topic:
            options["subscribe"] = ",".join(topics)
        return spark.readStream.format("kafka").options(**options).option("kafka.bootstrap.servers", self.servers)

    def starting_at(self, offsets: Mapping[str, Mapping[str, int]], topics: Iterable[str]) -> Kafka:
        """These topics of the same brokers, read by a query without a checkpoint from these offsets on, and from the
        oldest record on in partitions that are not named."""
        options = {name: value for name, value in self.options.items() if not name.startswith("starting")}
        starts = {
            topic: {**{str(n): EARLIEST for n in range(self.offsets.partitions(topic) or 0)}, **offsets.get(topic, {})}
            for topic in topics
        }
        return replace(self, options=FrozenMap({**options, "startingOffsets": json.dumps(starts)}))

    def backlog(self, offset: Mapping[str, Mapping[str, int]], now: float) -> float | None:
        """Records in the topics beyond those that a query has read; None while the brokers do not answer, and where
        only some partitions are read."""
        topics = () if "assign" in self.options else self.topics
        ends = self.offsets.ends(topics) if topics else None
        read = sum(sum(offset.get(topic, {}).values()) for topic in topics)
        return None if ends is None else float(max(0, sum(ends.values()) - read))

    def write(self, frame: DataFrame, batch: int) -> None:
        """Append one batch. Kafka does not know batches: after a crash one may be appended twice."""
        as_messages(frame).write.format("kafka").options(**self.writer_options).save()

    @property
    def writer_options(self) -> dict[str, str]:
        return {**RECONNECT, **self.client_options, "kafka.bootstrap.servers": self.servers, "topic": self.topic}


@knows_its_keywords("Spark's guide to the Kafka connector", CONNECTOR_OPTIONS, prefix="kafka.")
def kafka(
    topic: str | Sequence[str] = "",
    *,
    servers: str,
    max_records_per_batch: int | None = None,
    admin: Mapping[str, str] | None = None,
    **options: Any,
) -> Kafka:
    """A topic as source or sink of a pipeline; several of them, or `subscribePattern`, as source.

    admin  settings of librdkafka for the client that reads offsets, where `kafka.*` cannot say them: Java's key stores
    """
    named = topic if isinstance(topic, str) else ",".join(topic)
    written = FrozenMap({name: _option(value) for name, value in options.items()})
    return Kafka(named, servers, max_records_per_batch, written, FrozenMap(dict(admin or {})))


def _option(value: object) -> str:
    """A value as Spark writes it: true, not True."""
    return str(value).lower() if isinstance(value, bool) else str(value)


@cache
def _offsets(servers: str, settings: FrozenMap[str, str]) -> Offsets:
    return Offsets(servers, settings)


def as_messages(frame: DataFrame) -> DataFrame:
    """The messages that a frame becomes in Kafka."""
    return frame.select(*message(frame))


def message(frame: DataFrame) -> tuple[Column, ...]:
    """Key and value: `key` and `value` as they are; without a `value`, all columns but the stamp as JSON. And headers,
    if the frame has Kafka's column of them."""
    headers = (F.col(HEADERS.name),) if HEADERS.name in frame.columns else ()
    if "value" in frame.columns:
        key = F.col("key") if "key" in frame.columns else F.lit(None)
        return key.cast("binary").alias("key"), F.col("value").cast("binary").alias("value"), *headers
    row = F.struct(*(F.col(name) for name in frame.columns if name not in (STAMP, HEADERS.name)))
    return F.lit(None).cast("binary").alias("key"), F.to_json(row).cast("binary").alias("value"), *headers
