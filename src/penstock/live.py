"""Assembles a live run: a pipeline on Spark under a policy, fed by a load curve. `app.py` does so for simulations."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

from pyspark.sql import SparkSession

from penstock.guards import Guard
from penstock.model import Cycle, Execution, Plan, Slo
from penstock.report.outcome import Outcome, since
from penstock.simulator.result import Result
from penstock.simulator.trace import Trace
from penstock.spark.ends.endpoints import Sink, Source
from penstock.spark.ends.file_sink import Files
from penstock.spark.ends.replayed import Values, replay
from penstock.spark.pipeline import Pipeline
from penstock.spark.segments import segments
from penstock.spark.session import local_session
from penstock.spark.topics.broker import Broker
from penstock.spark.topics.feeder import Feeder
from penstock.spark.topics.jars import connector_jars
from penstock.spark.topics.kafka import Kafka, kafka
from penstock.workloads.rates import constant

Listener = Callable[[Cycle], None]
LOOK_SECONDS = 0.2
WARM_UP_RATE = 50.0
START_SECONDS = 20.0
"""A query that starts is given so long to answer before records are sent to it."""
MOST_SECONDS_A_BATCH = 2.0
"""Of load at its peak: a job that has fallen behind works it off in batches that still end soon."""
SLOTS = 32
"""Of the Spark that `stage` starts. Operators that wait leave the few cores of a laptop to others."""
PARTITIONS = 1
"""Of the topics of a demo. A reader holds a slot for each, and one is enough for the rates of a laptop."""


@dataclass(frozen=True)
class Stage:
    """Where live runs take place: Spark, and a broker for the real-time engine."""

    engine: str
    spark: SparkSession
    broker: Broker | None

    @property
    def execution(self) -> Execution:
        return Execution.AT_ONCE if self.broker else Execution.IN_TURN

    def topic(self, name: str) -> Kafka:
        """A new topic of the broker."""
        assert self.broker is not None
        made = kafka(f"{name}-{uuid4().hex[:8]}", servers=self.broker.servers)
        self.broker.create_topic(made.topic, PARTITIONS)
        return made


@contextmanager
def stage(engine: str, master: str = f"local[{SLOTS}]") -> Iterator[Stage]:
    """Starts what the engine needs, and ends it."""
    with ExitStack() as stack:
        realtime = engine == "realtime"
        spark = local_session(master, jars=connector_jars() if realtime else ())
        stack.callback(spark.stop)
        yield Stage(engine, spark, stack.enter_context(Broker()) if realtime else None)


@dataclass(frozen=True)
class LiveRun:
    """A pipeline, made for a source and a sink, under a policy for as long as the trace lasts.

    Where several of its operators have a sink, each gets one of its own.
    `warm_up_seconds` of a light load come first, under the largest plan, and are not measured: Spark compiles the job,
    and starts what every slot needs.
    """

    stage: Stage
    pipeline: Callable[[Source, Sink], Pipeline]
    values: Values
    trace: Trace
    slo: Slo
    policy: str
    policy_options: Mapping[str, Any] | None = None
    guards: Sequence[Guard] | None = None
    forecaster: str | None = None
    plan: Plan | None = None
    interval_seconds: float = 3.0
    batch_seconds: float = 1.0
    warm_up_seconds: float = 8.0

    def run(self, listener: Listener = lambda cycle: None, stopped: Callable[[], bool] = lambda: False) -> Result:
        """Run to the end of the trace, or until `stopped` says so."""
        largest = Plan.largest(self.pipeline(NOWHERE, NOWHERE).topology())
        light = constant(WARM_UP_RATE, self.warm_up_seconds)
        warm_up = replace(
            self, trace=light, policy="static", policy_options=None, plan=largest, guards=(), forecaster=None
        )
        warm_up._run(lambda cycle: None, stopped)
        outcome, name = self._run(listener, stopped)
        return outcome.result(policy=self.policy, workload=name, trace=self.trace.name, seed=0)

    def _run(self, listener: Listener, stopped: Callable[[], bool]) -> tuple[Outcome, str]:
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
            pipeline, feeder = self._wired(folder)
            outcome = Outcome(self.slo, self.stage.execution, Plan.largest(pipeline.topology()))
            began, running = 0.0, threading.Event()

            def heard(cycle: Cycle) -> None:
                if not began:  # nothing has been fed yet
                    if cycle.samples:
                        running.set()
                    return
                shown = since(cycle, began)
                outcome(shown)
                listener(shown)

            job = pipeline.start(
                self.stage.spark,
                slo=self.slo,
                checkpoint=str(folder / "checkpoint"),
                engine=self.stage.engine,
                policy=self.policy,
                policy_options=self.policy_options,
                guards=self.guards,
                forecaster=self.forecaster,
                plan=self.plan,
                interval_seconds=self.interval_seconds,
                batch_seconds=self.batch_seconds,
                listener=heard,
            )
            stack.enter_context(job)
            if feeder is not None:
                running.wait(START_SECONDS)
                stack.enter_context(feeder)
            began = time.time()
            while not (stopped() or time.time() >= began + self.trace.seconds or job.wait(LOOK_SECONDS)):
                pass
            for milliseconds in job.controller.decision_ms:
                outcome.decided(milliseconds)
            return outcome, pipeline.name

    def _wired(self, folder: Path) -> tuple[Pipeline, Feeder | None]:
        """The pipeline between real ends: a replay and files, or topics and somebody who fills the first."""
        most = max(1, round(MOST_SECONDS_A_BATCH * self.trace.peak))
        source = replay(self.trace, self.values, max_records_per_batch=most)
        if self.stage.broker is None:
            return self._between(source, lambda operator: Files(str(folder / "out" / operator), "json")), None
        inlet = self.stage.topic("in")
        return self._between(inlet, self.stage.topic), Feeder(source, inlet.topic, inlet.servers)

    def _between(self, source: Source, sink_of: Callable[[str], Sink]) -> Pipeline:
        pipeline = self.pipeline(source, NOWHERE)
        pipeline.outlets = [replace(outlet, sink=sink_of(outlet.after)) for outlet in pipeline.outlets]
        return pipeline


def most_that_fit(pipeline: Callable[..., Pipeline], slots: int = SLOTS) -> int:
    """The most instances that every operator may have at once: each takes a slot, and so does each reader of a topic.

    `pipeline` is made for a source, a sink and a `most`.
    """

    def needed(most: int) -> int:
        made = pipeline(NOWHERE, NOWHERE, most=most)
        readers = sum(max(1, len(segment.after)) for segment in segments(made))
        return PARTITIONS * readers + Plan.largest(made.topology()).total

    return max((most for most in range(1, slots) if needed(most) <= slots), default=1)


NOWHERE: Any = None
"""Ends for a pipeline that only shows its graph."""
