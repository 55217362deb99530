"""PSPS' complex application on Spark: tweets are split into news and opinions, and come together again in a store."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from penstock.papers.psps.workloads import COMPLEX
from penstock.papers.spark.draws import below, uniform, zipf
from penstock.runs.spark_workload import scaled_down
from penstock.spark import Pipeline
from penstock.spark.io.endpoints import Sink, Source
from penstock.spark.io.replayed import Ids
from penstock.testbed.service import Function, takes

NEWS = 0.4
"""The share of tweets that are news; the others are opinions."""
AUTHORS, SITES, TOPICS = 2_000, 20, 60
GOOD, BAD = ("great", "good", "love"), ("bad", "awful", "hate")
FEELINGS = (*GOOD, *BAD, "whatever")

SERVICE_MS = {
    "parse": 4, "kind": 4, "news": 4, "topics": 4, "opinions": 4, "sentiment": 4, "merge": 2, "store": 4,
}  # fmt: skip


def tweets(ids: Ids) -> Sequence[bytes]:
    """Number, author and text. News carry a link, opinions a feeling; few authors and topics are in many (Zipf).

    >>> import numpy as np
    >>> [tweet.decode().split("\\t")[2] for tweet in tweets(np.arange(1, 3))]
    ['good, I say #Topic11', 'read http://site6.example/2 #Topic29']
    """
    columns = (
        ids, zipf(ids, 1, AUTHORS), uniform(ids, 0) < NEWS, zipf(ids, 2, TOPICS), below(ids, 3, SITES),
        below(ids, 4, len(FEELINGS)),
    )  # fmt: skip
    return [
        b"%d\tuser%d\t%s #Topic%d"
        % (number, author, b"read http://site%d.example/%d" % (site, number) if news
           else b"%s, I say" % FEELINGS[feeling].encode(), topic)
        for number, author, news, topic, site, feeling in zip(*(column.tolist() for column in columns), strict=True)
    ]  # fmt: skip


def pipeline(source: Source, sink: Sink, most: int = 12) -> Pipeline:
    job = Pipeline(COMPLEX.name, source=source)

    def taking(name: str, function: Function) -> Function:
        return takes(SERVICE_MS[name], function)

    job.operator("parse", taking("parse", parse), max=most)
    job.operator("kind", taking("kind", kind), after="parse", max=most)
    job.operator("news", only("news", taking("news", site)), after="kind", max=most)
    job.operator("topics", taking("topics", topic), after="news", max=most)
    job.operator("opinions", only("opinion", taking("opinions", words)), after="kind", max=most)
    job.operator("sentiment", taking("sentiment", sentiment), after="opinions", max=most)
    job.operator("merge", taking("merge", merge), after=["topics", "sentiment"], max=most)
    job.operator("store", taking("store", store), after="merge", key="author", max=most)
    job.sink(sink, after="store")
    return job


def parse(frame: DataFrame) -> DataFrame:
    field = F.split(F.col("value").cast("string"), "\t")
    return frame.select(
        field[0].cast("long").alias("number"), field[1].alias("author"), field[2].alias("text"), "stamp"
    )


def kind(frame: DataFrame) -> DataFrame:
    return frame.withColumn("kind", F.when(F.col("text").contains("http://"), "news").otherwise("opinion"))


def only(which: str, function: Function) -> Function:
    """The operator of a branch, which works only on tweets of its kind."""
    return lambda frame: function(frame.where(f"kind = '{which}'"))


def site(frame: DataFrame) -> DataFrame:
    return frame.withColumn("site", F.regexp_extract("text", "http://([^/ ]+)", 1))


def topic(frame: DataFrame) -> DataFrame:
    """What the news are about, and where they are to be read."""
    found = F.concat_ws(" at ", F.lower(F.regexp_extract("text", "#(\\w+)", 1)), "site")
    return frame.select("number", "author", "kind", found.alias("found"), "stamp")


def words(frame: DataFrame) -> DataFrame:
    return frame.withColumn("words", F.split(F.lower("text"), "[^\\w#]+"))


def sentiment(frame: DataFrame) -> DataFrame:
    """The number of good words less the number of bad ones."""
    good, bad = (F.size(F.array_intersect("words", F.array(*map(F.lit, some)))) for some in (GOOD, BAD))
    return frame.select("number", "author", "kind", (good - bad).cast("string").alias("found"), "stamp")


def merge(frame: DataFrame) -> DataFrame:
    return frame.select("number", "author", F.concat_ws(": ", "kind", "found").alias("finding"), "stamp")


def store(frame: DataFrame) -> DataFrame:
    return frame


# Less than other jobs get: eight operators cost two cores a good deal besides waiting.
JOBS = (
    scaled_down(
        COMPLEX, pipeline, tweets, SERVICE_MS, seconds=120.0, peak=80.0,
        visits={"news": NEWS, "topics": NEWS, "opinions": 1 - NEWS, "sentiment": 1 - NEWS},
    ),
)  # fmt: skip
