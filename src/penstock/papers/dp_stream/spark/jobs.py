"""Dp-Stream's WordCount and Top-N on Spark, under its random rate."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from penstock.papers.dp_stream.workloads import TOP_N, WORD_COUNT
from penstock.papers.spark.draws import zipf
from penstock.runs.spark_workload import scaled_down
from penstock.spark import Pipeline
from penstock.spark.io.endpoints import Sink, Source
from penstock.spark.io.replayed import Ids
from penstock.testbed.service import takes

VOCABULARY, WORDS = 1_000, 3
PAGES, SITES, VIEWS, N = 50, 2, 12, 3

# Counting a line takes as long as splitting it, as in the simulated job, but here it is counted word by word.
COUNT_MS = {"spout": 1, "split": 9, "count": 9 // WORDS}
TOP_MS = {"spout": 1, "count": 6, "rank": 6, "merge": 2}


# WordCount -----------------------------------------------------------------------------------------------------------


def lines(ids: Ids) -> Sequence[bytes]:
    """Lines of three words out of a thousand, the n-th 1/n as often as the first (Zipf).

    >>> lines(np.arange(2))
    [b'word417 word249 word75', b'word13 word0 word78']
    """
    words = np.stack([zipf(ids, draw, VOCABULARY) for draw in range(WORDS)], axis=1)
    return [" ".join(f"word{word}" for word in line).encode() for line in words.tolist()]


def word_count(source: Source, sink: Sink, most: int = 12) -> Pipeline:
    """The count emits increments: one that kept the counts could not be rescaled in real time."""
    job = Pipeline(WORD_COUNT.name, source=source)
    spout = job.operator("spout", takes(COUNT_MS["spout"], text), max=1)
    words = job.operator("split", takes(COUNT_MS["split"], split), after=spout, max=most)
    counted = job.operator("count", takes(COUNT_MS["count"], increments), after=words, key="word", max=most)
    job.sink(sink, after=counted)
    return job


def text(frame: DataFrame) -> DataFrame:
    return frame.select(F.col("value").cast("string").alias("line"), "stamp")


def split(frame: DataFrame) -> DataFrame:
    return frame.select(F.explode(F.split("line", " ")).alias("word"), "stamp")


def increments(frame: DataFrame) -> DataFrame:
    return frame.select("word", F.lit(1).alias("count"), "stamp")


# Top-N ---------------------------------------------------------------------------------------------------------------


def windows(ids: Ids) -> Sequence[bytes]:
    """Each record is a window: its number, and twelve views of pages at each of two sites; few are popular (Zipf).

    >>> windows(np.arange(1))[0].decode().split("|")[:2]
    ['0', 'page29 page21 page10 page4 page1 page18 page20 page11 page7 page21 page0 page0']
    """
    draws = [zipf(ids, draw, PAGES) for draw in range(SITES * VIEWS)]
    views = np.stack(draws, axis=1).reshape(len(ids), SITES, VIEWS)
    return [
        "|".join((str(number), *(" ".join(f"page{page}" for page in site) for site in window))).encode()
        for number, window in zip(ids.tolist(), views.tolist(), strict=True)
    ]


def top_n(source: Source, sink: Sink, most: int = 12) -> Pipeline:
    """Views are counted for each site, ranked for each site, and the rankings merged: a window is in one record, so
    nothing has to be kept from one to the next."""
    job = Pipeline(TOP_N.name, source=source)
    spout = job.operator("spout", takes(TOP_MS["spout"], sites), max=1)
    counted = job.operator("count", takes(TOP_MS["count"], count), after=spout, max=most)
    ranked = job.operator("rank", takes(TOP_MS["rank"], rank), after=counted, max=most)
    merged = job.operator("merge", takes(TOP_MS["merge"], merge), after=ranked, max=min(most, 4))
    job.sink(sink, after=merged)
    return job


def sites(frame: DataFrame) -> DataFrame:
    part = F.split(F.col("value").cast("string"), r"\|")
    views = F.transform(F.slice(part, 2, SITES), lambda site: F.split(site, " "))
    return frame.select(part[0].cast("long").alias("window"), views.alias("sites"), "stamp")


def count(frame: DataFrame) -> DataFrame:
    """Count the views of the pages of each site."""
    counts = "transform(sites, s -> transform(array_distinct(s), p -> struct(size(filter(s, x -> x = p)) as views, p)))"
    return frame.select("window", F.expr(counts).alias("counts"), "stamp")


def rank(frame: DataFrame) -> DataFrame:
    """Keep the first pages of each site; of two with as many views the greater name comes first."""
    rankings = f"transform(counts, c -> slice(sort_array(c, false), 1, {N}))"
    return frame.select("window", F.expr(rankings).alias("rankings"), "stamp")


def merge(frame: DataFrame) -> DataFrame:
    """Keep the first pages of all sites; one that is in both rankings has the views of both."""
    entries = frame.select("window", F.flatten("rankings").alias("entries"), "stamp")
    pages = "array_distinct(transform(entries, e -> e.p))"
    views = "aggregate(filter(entries, e -> e.p = page), 0, (sum, e) -> sum + e.views)"
    merged = f"slice(sort_array(transform({pages}, page -> struct({views} as views, page)), false), 1, {N})"
    return entries.select("window", F.expr(merged).alias("top"), "stamp")


JOBS = (
    scaled_down(WORD_COUNT, word_count, lines, COUNT_MS, seconds=80.0, peak=180.0, visits={"count": WORDS}),
    scaled_down(TOP_N, top_n, windows, TOP_MS, seconds=80.0, peak=220.0),
)
