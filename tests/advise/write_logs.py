"""Runs small streaming jobs on the Spark that is installed, so that it writes event logs: real ones, of a few seconds.

    python tests/advise/write_logs.py FOLDER narrow stateful two seconds=14 spark.eventLog.compress=true

It imports nothing but PySpark, so that any version from 3.5 on can run it. `scrubbed` takes out what tells of the
machine: paths, hosts, users. The logs in `tests/advise/logs` were made so, with the version in their names.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

SECONDS = 14
BATCHES = 6
"""Each query has at least as many, however slow the machine is."""

Query = Any
Session = Any


def narrow(spark: Session, folder: str) -> list[Query]:
    """Batches without a shuffle, every second."""
    return [started(worked(spark, 3000), "narrow", folder, trigger="1 second")]


def shuffled(spark: Session, folder: str) -> list[Query]:
    """Batches with a shuffle, one after the other as soon as they can."""
    return [started(worked(spark.readStream.format("rate").option("rowsPerSecond", 2000).load().repartition(6)),
                    "shuffled", folder)]  # fmt: skip


def stateful(spark: Session, folder: str) -> list[Query]:
    """Counts in windows, with a watermark: a shuffle, and a state store."""
    counted = worked(spark, 1500).withWatermark("timestamp", "2 seconds")
    counted = counted.selectExpr("timestamp", "value % 20 as key").groupBy("key").count()
    return [started(counted, "stateful", folder, mode="update", trigger="2 seconds")]


def two(spark: Session, folder: str) -> list[Query]:
    """Two queries in one application: one with a name, one without."""
    return [
        started(worked(spark, 1500), "first", folder, trigger="1 second"),
        started(worked(spark, 500), None, folder, trigger="2 seconds"),
    ]


JOBS: dict[str, Callable[[Session, str], list[Query]]] = {
    "narrow": narrow, "shuffled": shuffled, "stateful": stateful, "two": two,
}  # fmt: skip


def worked(source: Session, rate: int | None = None) -> Any:
    """Records on which CPU time is spent; of a session that many in a second, in batches that grow at first."""
    if rate is not None:
        source = source.readStream.format("rate").option("rowsPerSecond", rate).option("rampUpTime", "8s")
        source = source.option("numPartitions", 3).load()
    return source.where("length(sha2(repeat(cast(value as string), 3000), 512)) > 0")


def started(frame: Any, name: str | None, folder: str, *, mode: str = "append", trigger: str | None = None) -> Query:
    writer = frame.writeStream.format("noop").outputMode(mode)
    writer = writer.option("checkpointLocation", f"{folder}/{name or 'nameless'}")
    if name is not None:
        writer = writer.queryName(name)
    return (writer.trigger(processingTime=trigger) if trigger else writer).start()


def ended(query: Query) -> int:
    """The batches that a query has ended."""
    progress = query.lastProgress
    return 0 if progress is None else int(progress["batchId"]) + 1


def write(kind: str, folder: Path, settings: dict[str, str], seconds: float = SECONDS) -> Path:
    """Run a job for some seconds, and some batches; returns the log, a file or a folder."""
    from pyspark.sql import SparkSession

    before = set(folder.iterdir())
    builder = SparkSession.builder.appName(kind).master("local[3]")
    for key, value in {
        "spark.eventLog.enabled": "true", "spark.eventLog.dir": folder.as_uri(), "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "4", "spark.sql.session.timeZone": "UTC", **settings,
    }.items():  # fmt: skip
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    with tempfile.TemporaryDirectory() as checkpoints:
        try:
            queries = JOBS[kind](spark, checkpoints)
            queries[0].awaitTermination(seconds)
            while any(ended(query) < BATCHES for query in queries):
                queries[0].awaitTermination(1)
            for query in queries:
                query.stop()
        finally:
            spark.stop()
    (log,) = set(folder.iterdir()) - before - set(folder.glob(".*"))
    return log


MACHINE = ("JVM Information", "System Properties", "Classpath Entries", "Hadoop Properties", "Metrics Properties")


def scrubbed(text: str) -> str:
    """An event log without what tells of the machine that wrote it."""
    for part in MACHINE:
        text = re.sub(rf'"{part}":\{{[^{{}}]*\}}', f'"{part}":{{}}', text)
    text = re.sub(r"file:/+[^\s\"\\,;)\]]+", "file:/data", text)
    text = re.sub(r"(?<![\w.:/-])/(?:home|root|tmp|usr|opt|work|var|mnt|Users)(?:/[^\s\"\\,;:()\]]*)?", "/data", text)
    text = re.sub(r"\b(?:\d{1,3}\.){3}\d{1,3}\b", "127.0.0.1", text)
    return re.sub(r'"(Host|User|spark\.driver\.host|Block Manager Host)":"[^"]*"', r'"\1":"host"', text)


if __name__ == "__main__":
    target, *words = sys.argv[1:]
    given = dict(word.split("=", 1) for word in words if "=" in word)
    chosen = {"spark.eventLog.compress": "false", "spark.eventLog.rolling.enabled": "false", **given}
    lasting = float(chosen.pop("seconds", SECONDS))
    for each in (word for word in words if "=" not in word):
        print(write(each, Path(target).resolve(), chosen, lasting))
