"""WordCount on Spark: lines are read, split into words, counted by word and written out.

A line has one word, as the simulated job hands on one record for each that it gets, and all words are equally frequent.
Counting hands on increments: what Spark cannot keep across a change of parallelism is left to whoever reads them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from penstock.load.curves import surge
from penstock.model import Plan, Slo
from penstock.runs.spark_workload import SparkWorkload
from penstock.spark import Pipeline
from penstock.spark.io.endpoints import Sink, Source
from penstock.spark.io.replayed import Ids
from penstock.testbed.service import waiting

# Three times the relations of the simulated evaluation, 1 : 1.28 : 3.67 : 2.91, in whole milliseconds.
SERVICE_MS = {"source": 3, "flat_map": 4, "count": 11, "sink": 9}
RATE = 200.0
"""Records a second at the peak: a third of what the job does with all instances that it may have."""
MOST = 7
"""The most instances of an operator with which all operators together find room in 32 slots."""
WORDS = 10_000


def lines(ids: Ids) -> Sequence[bytes]:
    """The same line for the same number, always."""
    words = (ids * np.int64(2_654_435_761)) % WORDS
    return [b"Word%d" % word for word in words.tolist()]


def pipeline(source: Source, sink: Sink, most: int = MOST) -> Pipeline:
    """The four operators between `source` and `sink`. All are native: both engines run them."""
    job = Pipeline("wordcount", source=source)
    read = job.operator("source", read_line, max=most)
    split = job.operator("flat_map", flat_map, after=read, max=most)
    counted = job.operator("count", count, after=split, key="word", max=most)
    job.operator("sink", write, after=counted, max=most)
    job.sink(sink, after="sink")
    return job


def read_line(frame: DataFrame) -> DataFrame:
    lines = frame.select(F.col("value").cast("string").alias("line"), "stamp")
    return waiting(SERVICE_MS["source"])(lines)


def flat_map(frame: DataFrame) -> DataFrame:
    words = F.explode(F.split(F.lower("line"), r"\s+"))
    return waiting(SERVICE_MS["flat_map"])(frame).select(words.alias("word"), "stamp")


def count(frame: DataFrame) -> DataFrame:
    return waiting(SERVICE_MS["count"])(frame).withColumn("increment", F.lit(1))


def write(frame: DataFrame) -> DataFrame:
    return waiting(SERVICE_MS["sink"])(frame)


JOBS = (
    SparkWorkload(
        "wordcount", pipeline, lines, SERVICE_MS, surge(0.35 * RATE, RATE, 60.0), Slo(processing_latency="1 s"),
        Plan(dict.fromkeys(SERVICE_MS, 1)),
    ),
)  # fmt: skip
