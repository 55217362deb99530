"""The jobs that chaos happens to, one for each way to run: numbered records through a fan-out, a key or a state.

Each is a function that starts its job in a session, with a restless policy beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from penstock import Slo
from penstock.guards import only
from penstock.load.curves import constant
from penstock.model import Cycle, Plan
from penstock.policies import Policy
from penstock.spark import NativeQuery, Pipeline, files, kafka, replay
from penstock.spark.job import RunningJob
from realtime_jobs import diamond as diamond_in_real_time
from spark_jobs import as_text

RECORDS_PER_SECOND, SECONDS, MOST = 300.0, 86_400.0, 6
NUMBERS, OUT = "numbers", "out"
"""The topics of jobs that read Kafka."""
KEYS = 20


@dataclass(frozen=True)
class Given:
    """What a job is started with.

    folder    where its checkpoint and its files are
    servers   the broker of its topics, if it has any
    policy    wants another plan with every window
    on_cycle  is told of every cycle
    """

    spark: SparkSession
    folder: Path
    servers: str
    policy: Policy
    on_cycle: Callable[[Cycle], None]

    @property
    def steering(self) -> dict[str, Any]:
        return {
            "slo": Slo(event_latency="5 s"), "checkpoint": str(self.folder / "checkpoint"), "policy": self.policy,
            "guards": only(), "interval": "1 s", "on_cycle": self.on_cycle,
        }  # fmt: skip


def in_micro_batches(given: Given) -> RunningJob:
    """parse feeds left and right, and both feed store; the right way is Python, by key."""

    def in_python(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        yield from frames

    def right_way(frame: DataFrame) -> DataFrame:
        return frame.where("crc32(value) % 2 = 1").select("text").mapInPandas(in_python, "text string")

    job = Pipeline("chaos", source=replay(constant(RECORDS_PER_SECOND, SECONDS), max_records_per_batch=1_000))
    parse = job.operator("parse", as_text, max=MOST)
    left = job.operator("left", lambda f: f.where("crc32(value) % 2 = 0").select("text"), after=parse, max=MOST)
    right = job.operator("right", right_way, after=parse, key="text", max=MOST)
    job.operator("store", lambda frame: frame, after=[left, right], max=MOST)
    job.sink(files(str(given.folder / OUT)), after="store")
    return job.start(given.spark, batch="300 ms", **given.steering)


@dataclass(frozen=True)
class Topic:
    """A topic and its broker, as the jobs of other tests take them."""

    name: str
    servers: str

    @property
    def broker(self) -> Topic:
        return self


def in_real_time(change: str) -> Callable[[Given], RunningJob]:
    """read feeds left and right, each of which marks the record, and both feed join."""

    def start(given: Given) -> RunningJob:
        job = diamond_in_real_time(Topic(NUMBERS, given.servers), Topic(OUT, given.servers), most=3)
        return job.start(given.spark, engine="realtime", batch="2 s", change=change, **given.steering)

    return start


def with_state(given: Given) -> RunningJob:
    """Counts by key, whose newest values are written by every batch in the place of what it wrote before."""

    def keep(frame: DataFrame, batch: int) -> None:
        frame.write.mode("overwrite").parquet(str(given.folder / OUT / f"batch={batch}"))

    def build(spark: SparkSession, plan: Plan) -> Any:
        numbers = kafka(NUMBERS, servers=given.servers).stream(spark)
        keyed = numbers.select((F.col("value").cast("string").cast("long") % KEYS).alias("key"))
        return keyed.groupBy("key").count().writeStream.outputMode("update").foreachBatch(keep)

    return NativeQuery("chaos", build, max=MOST).start(given.spark, batch="1 s", **given.steering)


JOBS: dict[str, Callable[[Given], RunningJob]] = {
    "microbatch": in_micro_batches,
    "restart": in_real_time("restart"),
    "handover": in_real_time("handover"),
    "native": with_state,
}
"""By the name of the way to run. In real time there are two ways to change."""
