"""What live runs on this machine need: Spark, a broker for the real-time engine, a feeder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import uuid4

from pyspark.sql import SparkSession

from penstock.model import Execution, Plan
from penstock.runs.live import NOWHERE, MakesPipeline
from penstock.spark.io.endpoints import Sink, Source
from penstock.spark.io.file_sink import Files
from penstock.spark.io.kafka_topic import Kafka, kafka
from penstock.spark.io.replayed import Replay
from penstock.spark.pipeline import Pipeline
from penstock.spark.segments import segments
from penstock.testbed.broker import Broker
from penstock.testbed.feeder import Feeder
from penstock.testbed.jars import connector_jars
from penstock.testbed.session import local_session
from penstock.testbed.standalone import standalone_cluster

SLOTS = 32
"""Slots for a plan in the Spark that `opened` starts: more than cores, as operators that wait use no core."""
CLUSTER_EXECUTORS, EXECUTOR_SLOTS = 4, 4
"""The most executors of the cluster that `opened` starts, and the slots of each. A JVM more takes seconds of CPU."""
PARTITIONS = 1
"""Partitions of each topic. A reader holds a slot for each, and one is enough for the rates of a laptop."""


@dataclass(frozen=True)
class LocalPlace:
    """A Spark session, and a broker where the engine is the real-time one."""

    engine: str
    spark: SparkSession
    broker: Broker | None
    executors: int | None = None
    """The most executors that a job can have; None where everything runs inside the driver."""

    @property
    def execution(self) -> Execution:
        return Execution.CONCURRENT if self.broker else Execution.SEQUENTIAL

    def topic(self, name: str, partitions: int = PARTITIONS) -> Kafka:
        """A new topic of the broker."""
        assert self.broker is not None
        made = kafka(f"{name}-{uuid4().hex[:8]}", servers=self.broker.servers)
        self.broker.create_topic(made.topic, partitions)
        return made

    def wired(
        self, pipeline: MakesPipeline, load: Replay, folder: Path
    ) -> tuple[Pipeline, AbstractContextManager[object]]:
        """The pipeline between a replay and files, or between two topics, and a context that sends its load."""
        if self.broker is None:
            made = _between(pipeline, load, lambda operator: Files(str(folder / "out" / operator), "json"))
            return made, nullcontext()
        inlet = self.topic("in")
        return _between(pipeline, inlet, self.topic), Feeder(load, inlet.topic, inlet.servers)


def _between(pipeline: MakesPipeline, source: Source, sink_of: Callable[[str], Sink]) -> Pipeline:
    """The pipeline with this source; each operator that has a sink gets one of its own."""
    made = pipeline(source, NOWHERE)
    made.outlets = [replace(outlet, sink=sink_of(outlet.after)) for outlet in made.outlets]
    return made


@contextmanager
def opened(
    engine: str, cluster: bool = False, slots_each: int = EXECUTOR_SLOTS, most_executors: int = CLUSTER_EXECUTORS
) -> Iterator[LocalPlace]:
    """Start what the engine needs, with executors that come and go on a `cluster`, and stop it at the end of the
    block. An executor has `slots_each`."""
    with ExitStack() as stack:
        realtime, executors = engine == "realtime", most_executors if cluster else None
        jars = connector_jars() if realtime else ()
        if executors is None:
            # A plan that is handed over has its slots twice for a moment: the largest that fits leaves as many free.
            spark = local_session(f"local[{2 * SLOTS if realtime else SLOTS}]", jars=jars)
        else:
            standalone = stack.enter_context(standalone_cluster(workers=1, cores=executors * slots_each))
            spark = local_session(standalone.master, jars=jars, settings=_executor_settings(executors, slots_each))
        stack.callback(spark.stop)
        broker = stack.enter_context(Broker()) if realtime else None
        yield LocalPlace(engine, spark, broker, executors)


def _executor_settings(most: int, slots_each: int) -> dict[str, str]:
    return {
        "spark.executor.cores": str(slots_each),
        "spark.executor.memory": "512m",
        "spark.cores.max": str(most * slots_each),
        "spark.decommission.enabled": "true",
        # The compiler and the collector of a large machine would take all cores of a small one while an executor
        # starts, which then takes twice as long.
        "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        # An executor that leaves looks that often whether it still has blocks to move; the default is 30 s.
        "spark.storage.decommission.replicationReattemptInterval": "3s",
    }


def most_that_fit(pipeline: Callable[..., Pipeline], slots: int = SLOTS) -> int:
    """The largest `most` for which all instances and readers of a concurrent pipeline fit into the slots.

    `pipeline` makes one from a source, a sink and a `most` for every operator.
    """

    def needed(most: int) -> int:
        made = pipeline(NOWHERE, NOWHERE, most=most)
        readers = sum(max(1, len(segment.after)) for segment in segments(made))
        return PARTITIONS * readers + Plan.largest(made.topology()).total

    return max((most for most in range(1, slots) if needed(most) <= slots), default=1)
