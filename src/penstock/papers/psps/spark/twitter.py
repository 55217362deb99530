"""PSPS' Twitter application on Spark: tweets are parsed, classified by what they say and by who says it, and stored.

The four are equally slow, as in the simulated job. The load is the first surge of its stream, five times as fast.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from penstock.model import Plan, Slo
from penstock.papers.psps.workloads import tweets
from penstock.runs.spark_workload import SparkWorkload
from penstock.spark import Pipeline
from penstock.spark.graph import Step
from penstock.spark.io.endpoints import Sink, Source
from penstock.spark.io.replayed import Ids
from penstock.testbed.service import Function, takes

SERVICE_MS = {"parse": 2, "content": 2, "author": 2, "store": 2}
PEAK, COMPRESSED, UNTIL = 420.0, 5.0, 350.0  # events/s; s of the simulated stream
OVER_PROVISIONED, MOST = 8, 16
"""Replicas of each operator that carry the peak, and those in the pool, which work off what has come to wait."""
WORDS = ("sun", "rain", "love", "hate", "goal", "vote")
GOOD, BAD = "love|sun", "hate|rain"
AUTHORS, KNOWN = 1_000, 10_000  # a tenth of the authors has more followers than makes one known


def texts(ids: Ids) -> Sequence[bytes]:
    """Tweets as text: number, author, followers, words. The same for the same number, always."""
    mixed = (ids * np.int64(2_654_435_761)) % (1 << 31)
    authors = mixed % AUTHORS
    followers = np.where(authors % 10 == 0, 10 * KNOWN, authors)
    first, second = (mixed // AUTHORS) % len(WORDS), (mixed // 7) % len(WORDS)
    return [
        b"%d,a%d,%d,%s %s" % (i, author, fans, WORDS[a].encode(), WORDS[b].encode())
        for i, author, fans, a, b in zip(
            ids.tolist(), authors.tolist(), followers.tolist(), first.tolist(), second.tolist(), strict=True
        )
    ]


def parse(frame: DataFrame) -> DataFrame:
    field = F.split(F.col("value").cast("string"), ",")
    return frame.select(
        field[0].cast("long").alias("number"), field[1].alias("author"), field[2].cast("int").alias("followers"),
        field[3].alias("text"), "stamp",
    )  # fmt: skip


def content(frame: DataFrame) -> DataFrame:
    """The mood of a tweet, by its words."""
    mood = F.regexp_count("text", F.lit(GOOD)) - F.regexp_count("text", F.lit(BAD))
    return frame.withColumn("mood", F.signum(mood).cast("int"))


def author(frame: DataFrame) -> DataFrame:
    return frame.withColumn("known", F.col("followers") > KNOWN)


def store(frame: DataFrame) -> DataFrame:
    return frame.drop("text", "followers")


STEPS: dict[str, Function] = {"parse": parse, "content": content, "author": author, "store": store}
"""What the four make of a tweet, without the time that it takes."""


def taking(service_ms: Mapping[str, int]) -> dict[str, Function]:
    """The four, each with a service time."""
    return {name: takes(service_ms[name], function) for name, function in STEPS.items()}


FUNCTIONS = taking(SERVICE_MS)


def in_a_line(functions: Mapping[str, Function], source: Source, sink: Sink, most: int = MOST) -> Pipeline:
    """The four between `source` and `sink`. All are native: both engines run them."""
    job = Pipeline("twitter", source=source)
    behind: list[Step] = []
    for name, function in functions.items():
        behind = [job.operator(name, function, after=behind, max=most)]
    job.sink(sink, after=behind[0])
    return job


JOBS = (
    SparkWorkload(
        "twitter", partial(in_a_line, FUNCTIONS), texts, SERVICE_MS,
        tweets().first(UNTIL).compressed(COMPRESSED).scaled(PEAK), Slo(event_latency="6 s"),
        Plan(dict.fromkeys(SERVICE_MS, 1)),
    ),
)  # fmt: skip
