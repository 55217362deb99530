"""The jobs that chaos happens to, one for each way to run: numbered records through a fan-out, a key or a state.

Each is a function that starts its job in a session, with a restless policy beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pandas as pd
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from chaos.feed import POISON
from penstock import Slo
from penstock.guards import only
from penstock.load.curves import constant
from penstock.model import Cycle, Plan
from penstock.policies import Policy
from penstock.spark import NativeQuery, Pipeline, files, kafka, replay
from penstock.spark.job import RunningJob
from realtime_jobs import as_text as as_short_text
from realtime_jobs import marked
from spark_jobs import as_text

RECORDS_PER_SECOND, SECONDS, MOST = 300.0, 86_400.0, 6
MOST_CONCURRENT = 3
"""Operators in real time hold slots of their own."""
NUMBERS, OUT = "numbers", "out"
"""The topics of jobs that read Kafka."""
RAISES, MENDED, LOSS = "raises", "mended", "loss-is-accepted"
"""Files in the folder of a job. While there is the first, its operator in Python raises. The second has the number of
the newest poisonous record that the operators of a new driver can stand. While there is the third, a new driver goes on
where its topic has thrown away records that it had not read."""


class Steered(Protocol):
    """A job with Penstock beside it, whatever the way to run."""

    @property
    def duplicates(self) -> int | None:
        """Records that it knows to have come twice."""
        ...

    def believed(self, plan: Plan) -> dict[str, int]:
        """Of a plan, what can be compared with `in_force`."""
        ...

    def in_force(self) -> dict[str, int]:
        """What is really so, by Spark."""
        ...

    def wait(self) -> object:
        """Until it ends; raises what ended it."""
        ...


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
        return {"slo": Slo(event_latency="5 s"), "policy": self.policy, "guards": only(), "interval": "1 s"}

    @property
    def of_an_engine(self) -> dict[str, Any]:
        return {**self.steering, "checkpoint": str(self.folder / "checkpoint"), "on_cycle": self.on_cycle}

    @property
    def source(self) -> Any:
        """The numbers, for whoever reads them from Kafka."""
        return kafka(NUMBERS, servers=self.servers, failOnDataLoss=not (self.folder / LOSS).exists())

    def healthy(self, frame: DataFrame) -> DataFrame:
        """The records without the poisonous ones that are known by now; raises for another one."""
        file = self.folder / MENDED
        known = int(file.read_text(encoding="utf-8")) if file.exists() else 0
        text = "cast(value as string)"
        number = f"try_cast(substring({text}, {len(POISON) + 1}) as int)"
        return frame.where(
            f"if(not startswith({text}, '{POISON}'), true, if({number} <= {known}, false, raise_error('poison')))"
        )


@dataclass(frozen=True)
class OfEngine:
    """A job that an engine of Penstock runs."""

    job: RunningJob

    @property
    def duplicates(self) -> int | None:
        return self.job.engine.duplicates

    def believed(self, plan: Plan) -> dict[str, int]:
        return dict(plan.parallelism)

    def in_force(self) -> dict[str, int]:
        return dict(self.job.plan.parallelism)

    def wait(self) -> object:
        return self.job.wait()


def in_micro_batches(given: Given) -> Steered:
    """parse feeds left and right, and both feed store; the right way is Python, by key."""
    raises = given.folder / RAISES

    def in_python(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for frame in frames:
            if raises.exists():
                raise ValueError("poison")
            yield frame

    def right_way(frame: DataFrame) -> DataFrame:
        return frame.where("crc32(value) % 2 = 1").select("text").mapInPandas(in_python, "text string")

    job = Pipeline("chaos", source=replay(constant(RECORDS_PER_SECOND, SECONDS), max_records_per_batch=1_000))
    parse = job.operator("parse", as_text, max=MOST)
    left = job.operator("left", lambda f: f.where("crc32(value) % 2 = 0").select("text"), after=parse, max=MOST)
    right = job.operator("right", right_way, after=parse, key="text", max=MOST)
    job.operator("store", lambda frame: frame, after=[left, right], max=MOST)
    job.sink(files(str(given.folder / OUT)), after="store")
    return OfEngine(job.start(given.spark, batch="300 ms", **given.of_an_engine))


def in_real_time(change: str) -> Callable[[Given], Steered]:
    """read feeds left and right, each of which marks the record, and both feed join."""

    def start(given: Given) -> Steered:
        job = Pipeline(NUMBERS, source=given.source)
        read = job.operator("read", lambda frame: as_short_text(given.healthy(frame)), max=MOST_CONCURRENT)
        left = job.operator("left", marked("l"), after=read, max=MOST_CONCURRENT)
        right = job.operator("right", marked("r"), after=read, max=MOST_CONCURRENT)
        joined = job.operator("join", lambda frame: frame, after=[left, right], max=MOST_CONCURRENT)
        job.sink(kafka(OUT, servers=given.servers), after=joined)
        return OfEngine(job.start(given.spark, engine="realtime", batch="2 s", change=change, **given.of_an_engine))

    return start


def with_state(given: Given) -> Steered:
    """Counts by key, whose newest values are written by every batch in the place of what it wrote before."""

    def build(spark: SparkSession, plan: Plan) -> Any:
        return counted(given, given.source.stream(spark))

    return OfEngine(NativeQuery("chaos", build, max=MOST).start(given.spark, batch="1 s", **given.of_an_engine))


def counted(given: Given, numbers: DataFrame) -> Any:
    """A query that is not started yet."""
    keyed = given.healthy(numbers).select(F.col("key").cast("string").cast("long").alias("key"))
    return keyed.groupBy("key").count().writeStream.outputMode("update").foreachBatch(written(given.folder / OUT))


def written(folder: Path) -> Callable[[DataFrame, int], None]:
    """Every batch into a folder of its own, in the place of what was there."""

    def write(frame: DataFrame, batch: int) -> None:
        frame.write.mode("overwrite").parquet(str(folder / f"batch={batch}"))

    return write
