"""What a query's checkpoint says of Kafka: how far the query had read when its last batch ended."""

from __future__ import annotations

import json
from typing import Any

from pyspark.sql import SparkSession


def consumed(spark: SparkSession, checkpoint: str) -> dict[str, int]:
    """Records read of each topic, since the topic exists; empty for a query that never finished a batch."""
    jvm: Any = spark.sparkContext._jvm
    folder = jvm.org.apache.hadoop.fs.Path(f"{checkpoint}/offsets")
    files = folder.getFileSystem(spark.sparkContext._jsc.hadoopConfiguration())
    if not files.exists(folder):
        return {}
    batches = [int(found.getPath().getName()) for found in files.listStatus(folder) if _is_batch(found.getPath())]
    if not batches:
        return {}
    [text] = [row.value for row in spark.read.text(f"{checkpoint}/offsets/{max(batches)}", wholetext=True).collect()]
    return read_offsets(text)


def read_offsets(text: str) -> dict[str, int]:
    """The sums of the offsets in an entry of Spark's offset log.

    >>> read_offsets('v1\\n{"batchTimestampMs":0}\\n{"clicks":{"0":40,"1":2}}')
    {'clicks': 42}
    """
    totals = {}
    for line in text.splitlines()[2:]:  # version, metadata, then a line for each source
        totals.update({topic: sum(partitions.values()) for topic, partitions in json.loads(line).items()})
    return totals


def _is_batch(path: Any) -> bool:
    return str(path.getName()).isdigit()
