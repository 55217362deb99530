"""Runs trials on real Spark, one after the other: one session and one broker for all of them.

A trial that broke is no data point: it is run once more, and if it breaks again, so does its experiment.
"""

from __future__ import annotations

import logging
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path

from penstock.control.assembly import assemble
from penstock.control.ports import Monitor
from penstock.load.curves import constant
from penstock.model import Cycle, Execution, PenstockError, Sample, Slo
from penstock.papers.spark.trial import Run, Trial
from penstock.runs.live import MOST_SECONDS_A_BATCH
from penstock.runs.summary import since
from penstock.spark.dry_run import dry_run
from penstock.spark.engine import SparkEngine
from penstock.spark.failure import JobFailedError
from penstock.spark.io.file_sink import Files
from penstock.spark.io.kafka_topic import Kafka
from penstock.spark.io.replayed import replay
from penstock.spark.measure.stages import StageReader
from penstock.spark.microbatch.engine import MicroBatchEngine
from penstock.spark.realtime.engine import RealTimeEngine
from penstock.stores.memory import MemoryStore
from penstock.testbed import place
from penstock.testbed.feeder import Feeder
from penstock.testbed.place import LocalPlace

LOOK_SECONDS = 0.1
START_SECONDS = 30.0
"""A query that starts is given so long to answer before records are sent to it."""
SETTLE_SECONDS = 4.0
FILL_SECONDS = 0.5
WARM_UP_RATE, WARM_UP_SECONDS, WARM_UP_CYCLES = 50.0, 60.0, 3
SILENT_SECONDS = 30.0
"""A job of which nothing was measured for so long does not run: windows are shorter, also those of a job that is
overloaded."""
ATTEMPTS = 2


class BrokenTrialError(PenstockError):
    """The job of a trial failed, or nothing was measured of it."""


@dataclass
class TrialRunner:
    """Runs trials in one place. `say` is called with a sentence about what begins."""

    place: LocalPlace
    say: Callable[[str], None] = lambda text: None
    _warm: set[tuple[str, Execution]] = field(default_factory=set)

    def run(self, trial: Trial) -> Run:
        """Run a trial; a job that this Spark has not seen yet is compiled first, by records that do not count."""
        seen = (trial.job.name, trial.execution)
        if seen not in self._warm:
            self.say(f"{trial.job.name}: warming up")
            self._warm.add(seen)
            self._run(Trial(
                "warm-up", trial.job, constant(WARM_UP_RATE, WARM_UP_SECONDS), Slo(), trial.job.start,
                policy="static", execution=trial.execution, enough=lambda cycles: len(cycles) >= WARM_UP_CYCLES,
            ))  # fmt: skip
        broke = ""
        for _ in range(ATTEMPTS):
            self.say(f"{trial.job.name}: {trial.label}, {trial.trace.seconds:.0f} s at most{broke}")
            try:
                return self._run(replace(trial, policy=deepcopy(trial.policy)))  # a policy learns: each begins anew
            except (BrokenTrialError, JobFailedError) as error:
                broke = f"; it broke before: {error}"
        raise BrokenTrialError(f"{trial.job.name}: {trial.label} broke {ATTEMPTS} times{broke}")

    def _run(self, trial: Trial) -> Run:
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
            sequential = trial.execution is Execution.SEQUENTIAL
            start = self._start_in_micro_batches if sequential else self._start_in_real_time
            stages = StageReader(self.place.spark.sparkContext)
            first = stages.next_job()
            engine, began = start(trial, folder, stack)
            cycles = tuple(_steered(trial, engine, began))
            return Run(trial, engine.topology, cycles, stages.cpu_seconds(first))

    def _start_in_micro_batches(self, trial: Trial, folder: Path, stack: ExitStack) -> tuple[SparkEngine, float]:
        """The load of the job comes as soon as it reads."""
        most = round(MOST_SECONDS_A_BATCH * trial.trace.peak)
        source = replay(trial.trace, trial.job.values, max_records_per_batch=most)
        pipeline = trial.job.pipeline(source, Files(str(folder / "out"), "json"))
        engine = MicroBatchEngine(
            self.place.spark, pipeline, dry_run(self.place.spark, pipeline), str(folder / "checkpoint"),
            batch_seconds=trial.batch_seconds, chaining=False,
        )  # fmt: skip
        began = engine.now()
        _start(engine, trial, stack)
        return engine, began

    def _start_in_real_time(self, trial: Trial, folder: Path, stack: ExitStack) -> tuple[SparkEngine, float]:
        """The load of the job comes when it answers, unless it finds a backlog to begin with."""
        inlet, outlet = self.place.topic("in"), self.place.topic("out")
        if trial.backlog:
            _fill(inlet, trial)
        pipeline = trial.job.pipeline(inlet, outlet)
        engine = RealTimeEngine(
            self.place.spark, pipeline, dry_run(self.place.spark, pipeline), str(folder / "checkpoint"),
            batch_seconds=trial.batch_seconds, change=trial.change, chaining=False,
        )  # fmt: skip
        _start(engine, trial, stack)
        if not trial.backlog:
            _wait_for_an_answer(engine)
        began = engine.now()
        stack.enter_context(Feeder(replay(trial.trace, trial.job.values), inlet.topic, inlet.servers))
        return engine, began


@contextmanager
def opened(say: Callable[[str], None] = lambda text: None) -> Iterator[TrialRunner]:
    """Start Spark and a broker, and end them."""
    logging.getLogger("penstock").setLevel(logging.ERROR)  # what happens is in the tables
    say("starting Spark and Kafka")
    with place.opened("realtime") as local:
        yield TrialRunner(local, say)


class Inbox(Monitor):
    """A monitor that holds what was measured until it is decided upon.

    Windows from before the load do not count, and in the first ones after it the job is warming up.
    """

    def __init__(self, engine: SparkEngine, began: float) -> None:
        self._engine = engine
        self._began = began
        self._samples: list[Sample] = []

    def fill(self) -> bool:
        """Take what is new; whether there is anything to decide upon."""
        for sample in self._engine.read():
            if sample.t >= self._began:
                settling = sample.t < self._began + SETTLE_SECONDS
                self._samples.append(replace(sample, warm_up=sample.warm_up or settling))
        return bool(self._samples)

    def read(self) -> Sequence[Sample]:
        samples, self._samples = self._samples, []
        return samples


def _steered(trial: Trial, engine: SparkEngine, began: float) -> list[Cycle]:
    """Decide at every interval in which something was measured, until the end of the trace or until it is enough."""
    inbox = Inbox(engine, began)
    loop = assemble(
        trial, topology=engine.topology, slo=trial.slo, monitor=inbox, actuator=engine, clock=engine,
        store=MemoryStore(), execution=trial.execution, trigger_seconds=engine.trigger_seconds,
    )  # fmt: skip
    cycles: list[Cycle] = []
    due, measured = began + trial.interval_seconds, began
    while not (engine.now() >= began + trial.trace.seconds or engine.wait(LOOK_SECONDS) or trial.enough(cycles)):
        if engine.now() >= due and inbox.fill():
            cycles.append(since(loop.run_once(), began))
            trial.on_cycle(cycles[-1])
            measured = engine.now()
            due = measured + trial.interval_seconds
        elif engine.now() > measured + SILENT_SECONDS + trial.interval_seconds:
            raise BrokenTrialError(f"nothing was measured for {engine.now() - measured:.0f} s")
    if not cycles:
        raise BrokenTrialError("nothing was measured")
    return cycles


def _start(engine: SparkEngine, trial: Trial, stack: ExitStack) -> None:
    engine.start(trial.start)
    stack.callback(engine.stop)


def _wait_for_an_answer(engine: SparkEngine) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and not engine.read():
        engine.wait(LOOK_SECONDS)


def _fill(topic: Kafka, trial: Trial) -> None:
    """Let a backlog wait in the topic before the job starts."""
    burst = replay(constant(trial.backlog / FILL_SECONDS, FILL_SECONDS), trial.job.values)
    with Feeder(burst, topic.topic, topic.servers) as feeder:
        while feeder.sent < burst.total:
            time.sleep(LOOK_SECONDS)
