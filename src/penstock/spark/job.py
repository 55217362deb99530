"""Puts an engine and the control loop together, and lets them run: for pipelines, and for stateful native queries."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from pyspark.sql import SparkSession

from penstock.control.controller import Controller
from penstock.control.loop import Loop, Settings
from penstock.control.ports import Store
from penstock.forecast import FORECASTERS
from penstock.guards import Guard, chain
from penstock.model import Cycle, InvalidValueError, Mode, Plan, Slo, Topology
from penstock.model.errors import check_choice, check_number
from penstock.policies import POLICIES, Policy
from penstock.spark.dry_run import Trial, dry_run
from penstock.spark.engine import Engine
from penstock.spark.pipeline import Pipeline
from penstock.stores import open_store

log = logging.getLogger("penstock")

ENGINES = ("microbatch", "realtime")
CLUSTER_INTERVAL_SECONDS = 10.0


@dataclass(frozen=True)
class Options:
    """How a job is steered.

    policy            a name out of `penstock policies`, or a policy
    policy_options    its options by name
    mode              "active", "monitor" (decide and record, never act) or "off"
    plan              to begin with; None: that of the store, else the fewest instances
    guards            None: all of them, with their defaults; () for none
    forecaster        a name out of `penstock forecasters`; None: policies see what is, not what will be
    store             where cycles and models are kept, a URL or a store; None: a SQLite file beside a checkpoint on a
                      local disk, else the memory of this process
    interval_seconds  from one decision to the next
    batch_seconds     from one micro-batch to the next, or the length of a batch in real time; None: what suits the
                      engine, while a native query keeps its own trigger
    listener          told of every cycle
    """

    policy: Policy | str = "ds2"
    policy_options: Mapping[str, Any] | None = None
    mode: Mode | str = Mode.ACTIVE
    plan: Plan | None = None
    guards: Sequence[Guard] | None = None
    forecaster: str | None = None
    store: Store | str | None = None
    interval_seconds: float = CLUSTER_INTERVAL_SECONDS
    batch_seconds: float | None = None
    listener: Callable[[Cycle], None] = field(default=lambda cycle: None)

    def __post_init__(self) -> None:
        check_choice("mode", str(self.mode), [mode.value for mode in Mode])
        check_number("interval_seconds", self.interval_seconds, 0.1)
        check_number("batch_seconds", self.batch_seconds, 0.05)


class RunningJob:
    """A job that runs, with the controller beside it. Use it in a `with` block, or `stop` it."""

    def __init__(self, engine: Engine, controller: Controller, store: Store) -> None:
        self.engine = engine
        self.controller = controller
        self._store = store

    @property
    def topology(self) -> Topology:
        return self.engine.topology

    @property
    def plan(self) -> Plan:
        return self.engine.plan()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the job ends, so long at most; True if it has ended. Raises what ended it if that was an error."""
        return self.engine.wait(seconds)

    def stop(self) -> None:
        """First the controller, then the job: nobody changes a job that is being stopped."""
        self.controller.stop()
        self.engine.stop()
        self._store.close()

    def __enter__(self) -> RunningJob:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()


def start(
    pipeline: Pipeline, spark: SparkSession, *, slo: Slo, checkpoint: str, engine: str = "microbatch", **options: Any
) -> RunningJob:
    """See `Pipeline.start`."""
    check_choice("engine", engine, ENGINES)
    chosen = Options(**options)
    check_checkpoint(checkpoint)
    pipeline.topology()
    trials = dry_run(spark, pipeline)
    return steer(_engine(engine, chosen, spark, pipeline, trials, checkpoint), pipeline.name, slo, checkpoint, chosen)


def check_checkpoint(checkpoint: str) -> None:
    if not checkpoint:
        raise InvalidValueError(
            "checkpoint", "must name a folder: without it nobody knows where to go on after a crash"
        )


def steer(engine: Engine, name: str, slo: Slo, checkpoint: str, options: Options) -> RunningJob:
    """Start a job with the control loop beside it; where an earlier one was, go on with its plan and its models."""
    policy = options.policy
    if isinstance(policy, str):
        policy = POLICIES.create(policy, options.policy_options)
    forecaster = None if options.forecaster is None else FORECASTERS.create(options.forecaster)
    store = _store(options.store, checkpoint, name)
    with ExitStack() as unless_it_starts:
        unless_it_starts.callback(store.close)
        loop = Loop(
            topology=engine.topology,
            slo=slo,
            policy=policy,
            monitor=engine,
            actuator=engine,
            store=store,
            clock=engine,
            guards=chain() if options.guards is None else options.guards,
            forecaster=forecaster,
            execution=engine.execution,
            mode=Mode(options.mode),
            settings=Settings(interval_seconds=options.interval_seconds),
        )
        resumed = loop.resume()
        if options.plan is None and resumed is not None:
            engine.apply(resumed)  # the job has not begun: it simply starts with this plan
        engine.start()
        unless_it_starts.pop_all()
    controller = Controller(loop, options.listener)
    controller.start()
    return RunningJob(engine, controller, store)


def _engine(
    engine: str, chosen: Options, spark: SparkSession, pipeline: Pipeline, trials: dict[str, Trial], checkpoint: str
) -> Engine:
    from penstock.spark.microbatch.engine import MicroBatchEngine
    from penstock.spark.realtime.engine import RealTimeEngine

    plan = chosen.plan or Plan.smallest(pipeline.topology())
    if engine == "realtime":
        return RealTimeEngine(spark, pipeline, trials, plan, checkpoint, batch_seconds=chosen.batch_seconds or 5.0)
    return MicroBatchEngine(spark, pipeline, trials, plan, checkpoint, batch_seconds=chosen.batch_seconds or 1.0)


def _store(chosen: Store | str | None, checkpoint: str, job: str) -> Store:
    if chosen is not None and not isinstance(chosen, str):
        return chosen
    if chosen is None:
        if "://" in checkpoint and not checkpoint.startswith("file://"):
            log.warning(
                "the history is kept in memory: name a store to keep it where the checkpoint is not a local folder"
            )
            return open_store("memory")
        folder = Path(checkpoint.removeprefix("file://"))
        folder.mkdir(parents=True, exist_ok=True)
        chosen = f"sqlite:///{folder / 'penstock.db'}"
    return open_store(chosen, job)
