"""A live run: a pipeline on Spark under a policy for as long as a load curve lasts, summed up at its end."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from pyspark.sql import SparkSession

from penstock.control.assembly import Steering
from penstock.guards import only
from penstock.load.curves import constant
from penstock.load.trace import Trace
from penstock.model import Cycle, Execution, JobDescription, Plan, Slo
from penstock.runs.result import Result
from penstock.runs.summary import RunSummary, since
from penstock.spark.io.endpoints import Sink, Source
from penstock.spark.io.replayed import Replay, Values, replay
from penstock.spark.pipeline import Pipeline

OnCycle = Callable[[Cycle], None]
MakesPipeline = Callable[[Source, Sink], Pipeline]
LOOK_SECONDS = 0.2
WARM_UP_RATE = 50.0
START_SECONDS = 20.0
"""A query that starts has this many seconds to answer before records are sent to it."""
MOST_SECONDS_A_BATCH = 4.0
"""A batch takes at most the records of this many seconds at the load's peak: a job that has fallen behind works that
off in batches that still end soon, and faster than records come."""
NOWHERE: Any = None
"""Ends for a pipeline that only shows its graph."""


class Place(Protocol):
    """Where a live run takes place: the session, the engine, and what stands at the ends of the pipeline."""

    @property
    def engine(self) -> str: ...

    @property
    def spark(self) -> SparkSession: ...

    @property
    def execution(self) -> Execution: ...

    def wired(
        self, pipeline: MakesPipeline, load: Replay, folder: Path
    ) -> tuple[Pipeline, AbstractContextManager[object]]:
        """The pipeline between real ends, and what has to be entered for its load to come."""


@dataclass(frozen=True, kw_only=True)
class LiveRun(Steering):
    """A pipeline, made for a source and a sink, under a policy for as long as the trace lasts.

    The other fields are those of `Steering`. `warm_up_seconds` of a light load come first, under the largest plan, and
    are not measured: Spark compiles the job, and starts what every slot needs. `executors` are the fewest and the most
    that the job may have; none: they stay as they are. `change` says how a plan changes in real time; none: as usual.
    `chaining` says whether operators share their instances; none: as the policy has it.
    """

    place: Place
    pipeline: MakesPipeline
    values: Values
    trace: Trace
    slo: Slo
    plan: Plan | None = None
    batch: str = "1 s"
    change: str | None = None
    executors: tuple[int, int] | None = None
    chaining: bool | None = None
    warm_up_seconds: float = 8.0

    def run(self, on_cycle: OnCycle = lambda cycle: None, stopped: Callable[[], bool] = lambda: False) -> Result:
        """Run to the end of the trace, or until `stopped` says so."""
        if self.warm_up_seconds:
            light = constant(WARM_UP_RATE, self.warm_up_seconds)
            largest = Plan.largest(self.pipeline(NOWHERE, NOWHERE).topology())
            replace(self.under(largest), trace=light)._run(lambda cycle: None, stopped)
        return self._run(on_cycle, stopped)

    def under(self, plan: Plan) -> LiveRun:
        """The same run under a plan that never changes, on the executors that it needs."""
        return replace(
            self, policy="static", policy_options=None, plan=plan, guards=only(), forecaster=None,
            forecaster_options=None, warm_up_seconds=0.0,
        )  # fmt: skip

    def description(self) -> JobDescription:
        """What is steered, and how."""
        topology = self.pipeline(NOWHERE, NOWHERE).topology()
        return JobDescription(
            topology, self.slo, self.place.execution, self.chosen_policy().name, self.interval_seconds
        )  # fmt: skip

    def _run(self, on_cycle: OnCycle, stopped: Callable[[], bool]) -> Result:
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
            most = max(1, round(MOST_SECONDS_A_BATCH * self.trace.peak))
            load = replay(self.trace, self.values, max_records_per_batch=most)
            pipeline, feeding = self.place.wired(self.pipeline, load, folder)
            began, running = 0.0, threading.Event()

            def reported(cycle: Cycle) -> None:
                if not began:  # nothing has been fed yet
                    if cycle.samples:
                        running.set()
                    return
                shown = since(cycle, began)
                summary(shown)
                on_cycle(shown)

            job = pipeline.start(
                self.place.spark,
                slo=self.slo,
                checkpoint=str(folder / "checkpoint"),
                engine=self.place.engine,
                plan=self.plan,
                batch=self.batch,
                change=self.change,
                executors=self.executors,
                chaining=self.chaining,
                on_cycle=reported,
                **self.keywords(),
            )
            stack.enter_context(job)
            # What the plans hold is what the engine counts: readers and inner shuffles hold slots too.
            summary = RunSummary(self.slo, job.engine.slots_needed, Plan.largest(job.topology))
            if self.place.execution is Execution.CONCURRENT:  # in micro-batches the load comes as soon as the job reads
                running.wait(START_SECONDS)
            stack.enter_context(feeding)
            began, bill = time.time(), job.engine.slots.bill()
            while not (stopped() or time.time() >= began + self.trace.seconds or job.wait(LOOK_SECONDS)):
                pass
            for milliseconds in job.controller.decision_ms:
                summary.decided(milliseconds)
            ended = time.time()
            return summary.result(
                policy=self.chosen_policy().name,
                workload=pipeline.name,
                trace=self.trace.name,
                seed=0,
                seconds=ended - began,
                paid=None if bill is None else bill.core_seconds(ended),
            )
