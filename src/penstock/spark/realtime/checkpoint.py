"""What a query's checkpoint says of Kafka: how far the query will have read when it starts again.

Real-time mode writes its checkpoint asynchronously: a batch whose end was reported may be missing in it when a query is
stopped just then, and one whose end was not reported may be there. The next run begins where the checkpoint says.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pyspark.sql import SparkSession

from penstock.spark.hadoop_folder import HadoopFolder
from penstock.spark.settings import PARTITIONS

PartitionOffsets = Mapping[str, Mapping[str, int]]
"""Kafka's offsets by topic and partition, as Spark writes them: {"clicks": {"0": 40, "1": 2}}."""


@dataclass(frozen=True, slots=True)
class Committed:
    """The last batch that will not be read again.

    offsets     what was read by its end
    partitions  those of every shuffle that Spark puts in; the next run keeps them, whatever the session says
    """

    batch: int
    offsets: PartitionOffsets
    partitions: int | None = None


def committed(spark: SparkSession, checkpoint: str) -> Committed | None:
    """What the next run of a query goes on from; None if it has to begin at the beginning."""
    folder = HadoopFolder(spark, checkpoint)
    batch = max(folder.numbers("commits"), default=None)
    text = None if batch is None else folder.read(f"offsets/{batch}")
    if batch is None or text is None:
        return None
    return Committed(batch, read_offsets(text), read_partitions(text))


def read_offsets(text: str) -> dict[str, dict[str, int]]:
    """Kafka's offsets in an entry of Spark's offset log.

    >>> read_offsets('v1\\n{"batchTimestampMs":0}\\n{"clicks":{"0":40,"1":2}}')
    {'clicks': {'0': 40, '1': 2}}
    """
    merged: dict[str, dict[str, int]] = {}
    for line in text.splitlines()[2:]:  # version, metadata, then a line for each source
        merged |= json.loads(line)
    return merged


def read_partitions(text: str) -> int | None:
    """The shuffle partitions in an entry of Spark's offset log.

    >>> read_partitions('v1\\n{"conf":{"spark.sql.shuffle.partitions":"4"}}\\n{}')
    4
    """
    partitions = json.loads(text.splitlines()[1]).get("conf", {}).get(PARTITIONS)
    return None if partitions is None else int(partitions)


def records_by_topic(offsets: Iterable[PartitionOffsets | None]) -> dict[str, int]:
    """The records of each topic before Kafka's offsets of its partitions.

    >>> records_by_topic([{"clicks": {"0": 40, "1": 2}}, None])
    {'clicks': 42}
    """
    return {topic: sum(partitions.values()) for offset in offsets for topic, partitions in (offset or {}).items()}
