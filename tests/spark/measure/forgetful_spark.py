"""Runs every engine on a Spark that forgets all but the newest stage, and prints what each has measured as JSON; then
what is known of a job whose end Spark has not filed when its stages are asked for.

usage: forgetful_spark.py FOLDER SERVERS     A process of its own: what Spark keeps is set when it starts.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.streaming.readwriter import DataStreamWriter

from patience import wait_for
from penstock.control.clock import WallClock
from penstock.load.curves import constant
from penstock.model import Plan, Sample
from penstock.spark import NativeQuery, Pipeline, files, kafka, replay
from penstock.spark.dry_run import dry_run
from penstock.spark.engine import SparkEngine
from penstock.spark.measure.query_monitor import QueryMonitor
from penstock.spark.measure.stages import StageReader
from penstock.spark.microbatch.engine import MicroBatchEngine
from penstock.spark.native.engine import STATE, NativeEngine
from penstock.spark.realtime.engine import RealTimeEngine
from penstock.testbed.feeder import Feeder
from penstock.testbed.jars import connector_jars
from penstock.testbed.session import local_session

WINDOWS = 2
ASKED_WITHIN_SECONDS = 1.0
"""A reader that does not wait has answered by then; one that waits is let go."""
LOAD = replay(constant(200.0, 3_600.0))


def measured(read: Callable[[], Iterable[Sample]]) -> list[Sample]:
    """The first windows in which records came through a job that has warmed up."""
    seen: list[Sample] = []

    def enough() -> bool:
        seen.extend(sample for sample in read() if sample.throughput and not sample.warm_up)
        return len(seen) >= WINDOWS

    wait_for(enough, every=0.5)
    return seen


def report(samples: Iterable[Sample]) -> list[dict[str, object]]:
    return [
        {
            "throughput": sample.throughput,
            "useful": [operator.useful_seconds for operator in sample.operators.values()],
            "batches": len(sample.batches or ()),
        }
        for sample in samples
    ]


def running(engine: SparkEngine, plan: Plan) -> list[Sample]:
    engine.start(plan)
    try:
        return measured(engine.read)
    finally:
        engine.stop()


def microbatch(spark: SparkSession, folder: Path, servers: str) -> list[Sample]:
    job = Pipeline("forgotten", source=LOAD)
    job.operator("one", lambda frame: frame.select("value"))
    job.operator("two", lambda frame: frame.where("length(value) > 0"), after="one")
    job.sink(files(str(folder / "out")), after="two")
    engine = MicroBatchEngine(spark, job, dry_run(spark, job), str(folder / "microbatch"), batch_seconds=0.05)
    return running(engine, Plan({"one": 1, "two": 2}))  # two stages, so that one of them is forgotten


def native(spark: SparkSession, folder: Path, servers: str) -> list[Sample]:
    def build(session: SparkSession, plan: Plan) -> DataStreamWriter:
        return LOAD.stream(session).groupBy("partition").count().writeStream.format("noop").outputMode("update")

    topology = NativeQuery("forgotten", build).topology()
    return running(NativeEngine(spark, build, topology, str(folder / "native")), Plan({STATE: 1}))


def attached(spark: SparkSession, folder: Path, servers: str) -> list[Sample]:
    def count(frame: DataFrame, batch: int) -> None:
        frame.groupBy("partition").count().collect()

    writer = LOAD.stream(spark).writeStream.foreachBatch(count)
    query = writer.option("checkpointLocation", str(folder / "attached")).start()
    monitor = QueryMonitor(query, StageReader(spark.sparkContext), WallClock(), lambda: 4, lambda: None)
    try:
        return measured(monitor.read)
    finally:
        query.stop()


def realtime(spark: SparkSession, folder: Path, servers: str) -> list[Sample]:
    job = Pipeline("forgotten", source=kafka("forgotten-in", servers=servers))
    job.operator("one", lambda frame: frame.withColumn("length", F.length("value")))
    job.sink(kafka("forgotten-out", servers=servers), after="one")
    engine = RealTimeEngine(spark, job, dry_run(spark, job), str(folder / "realtime"), batch_seconds=0.5)
    with Feeder(LOAD, "forgotten-in", servers):
        return running(engine, Plan({"one": 2}))  # two stages, of which Spark keeps one


class HeldListener:
    """A listener of Spark's own that holds up everything behind it until it is let go."""

    class Java:
        implements = ("org.apache.spark.scheduler.SparkListenerInterface",)

    def __init__(self) -> None:
        self.released = threading.Event()

    def __getattr__(self, name: str) -> Callable[[object], None]:
        if not name.startswith("on"):
            raise AttributeError(name)
        return self._hold

    def _hold(self, event: object) -> None:
        self.released.wait()


def filed_late(spark: SparkSession) -> list[int]:
    """The tasks of each stage that is known of a job, asked for before Spark has filed even its start."""
    context, listener, found = spark.sparkContext, HeldListener(), []
    ensure_callback_server_started(context._gateway)  # type: ignore[no-untyped-call]
    context._jsc.sc().listenerBus().addToStatusQueue(listener)
    reader = StageReader(context)
    with reader.tagged("late") as jobs:
        context.parallelize(range(10), 3).count()
    asking = threading.Thread(target=lambda: found.extend(reader.of_jobs(jobs[0]) or []))
    asking.start()
    asking.join(ASKED_WITHIN_SECONDS)
    listener.released.set()
    asking.join()
    return [stage.tasks for job in found for stage in job]


def main(folder: Path, servers: str) -> None:
    settings = {
        "spark.ui.retainedStages": "1",
        "spark.appStateStore.asyncTracking.enable": "false",  # it forgets immediately, not when a thread finds the time
    }
    spark = local_session("local[4]", jars=connector_jars(), settings=settings)
    for run in (microbatch, native, attached, realtime):
        print(json.dumps({run.__name__: report(run(spark, folder, servers))}), flush=True)
    print(json.dumps({"filed_late": filed_late(spark)}), flush=True)
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
