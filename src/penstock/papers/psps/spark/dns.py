"""PSPS' DNS application on Spark: queries are parsed, resolved, classified and stored."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from penstock.papers.psps.workloads import DNS
from penstock.papers.spark.draws import below, uniform, zipf
from penstock.runs.spark_workload import scaled_down
from penstock.spark import Pipeline
from penstock.spark.graph import Step
from penstock.spark.io.endpoints import Sink, Source
from penstock.spark.io.replayed import Ids
from penstock.testbed.service import takes

DOMAINS, CLIENTS = 300, 500
MADE_UP, REVERSE = 0.05, 0.1
"""The shares of queries for names that a program made up, and of those for the name of an address."""
LONG = 16
"""A name with so many letters was made up by a program."""

SERVICE_MS = {"parse": 12, "resolve": 25, "classify": 25, "store": 12}


def queries(ids: Ids) -> Sequence[bytes]:
    """Number, client, type and name; few names are asked for by many (Zipf).

    >>> [query.decode() for query in queries(np.arange(2, 5))]  # doctest: +NORMALIZE_WHITESPACE
    ['2,client431,A,1444f2e39ce23e00.example', '3,client353,A,www.domain194.example',
     '4,client257,PTR,2.0.0.10.in-addr.arpa']
    """
    made_up = (uniform(ids, 3) * 2**62).astype(np.int64)
    columns = ids, below(ids, 1, CLIENTS), uniform(ids, 0), zipf(ids, 2, DOMAINS), made_up
    return [
        f"{number},client{client},{_question(share, domain, letters)}".encode()
        for number, client, share, domain, letters in zip(*(column.tolist() for column in columns), strict=True)
    ]


def _question(share: float, domain: int, letters: int) -> str:
    if share < MADE_UP:
        return f"A,{letters:0{LONG}x}.example"
    if share < MADE_UP + REVERSE:
        return f"PTR,{domain % 256}.0.0.10.in-addr.arpa"
    return f"A,www.domain{domain}.example"


def pipeline(source: Source, sink: Sink, most: int = 12) -> Pipeline:
    job = Pipeline(DNS.name, source=source)
    before: list[Step] = []
    for name, function in FUNCTIONS.items():
        before = [job.operator(name, function, after=before, max=most)]
    job.sink(sink, after=before[0])
    return job


def parse(frame: DataFrame) -> DataFrame:
    field = F.split(F.col("value").cast("string"), ",")
    return frame.select(
        field[0].cast("long").alias("number"), field[1].alias("client"), field[2].alias("type"),
        F.lower(field[3]).alias("name"), "stamp",
    )  # fmt: skip


def resolve(frame: DataFrame) -> DataFrame:
    """Registered names have an address, the others none."""
    domain = F.regexp_extract("name", "^www\\.domain(\\d+)\\.example$", 1)
    address = F.when(domain != "", F.concat(F.lit("192.0.2."), domain.cast("int") % 256))
    return frame.withColumn("address", address)


def classify(frame: DataFrame) -> DataFrame:
    kind = (
        F.when(F.col("type") == "PTR", "reverse")
        .when(F.col("address").isNotNull(), "usual")
        .when(F.length(F.split("name", "\\.")[0]) >= LONG, "made up")
        .otherwise("unknown")
    )
    return frame.withColumn("class", kind)


def store(frame: DataFrame) -> DataFrame:
    return frame.select("number", "client", "name", "address", "class", "stamp")


FUNCTIONS = {
    name: takes(SERVICE_MS[name], function)
    for name, function in {"parse": parse, "resolve": resolve, "classify": classify, "store": store}.items()
}

JOBS = (scaled_down(DNS, pipeline, queries, SERVICE_MS, seconds=120.0, peak=45.0),)
