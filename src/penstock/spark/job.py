"""Starts an engine with the control loop beside it, for pipelines and for native queries."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from types import TracebackType

from penstock.control.assembly import Steering, SteeringOptions, assemble
from penstock.control.controller import Controller
from penstock.control.ports import Store
from penstock.model import Cycle, InvalidValueError, Mode, Plan, Slo, Topology
from penstock.model.errors import check_choice
from penstock.spark.engine import SparkEngine
from penstock.spark.executors.claim import Claim
from penstock.spark.executors.executor_limit import ExecutorLimit
from penstock.spark.executors.slots import NotEnoughSlotsError
from penstock.spark.observers import Observers
from penstock.spark.report import Account, JobReport, load_notes
from penstock.stores import open_store
from penstock.stores.broken import usable_store

log = logging.getLogger("penstock")


class StartOptions(SteeringOptions, total=False):
    """What the start of a job takes besides session, target and checkpoint: see `Pipeline.start`."""

    plan: Plan | None
    batch: str | timedelta | None
    executors: tuple[int, int] | None
    wait: str | timedelta
    on_cycle: Callable[[Cycle], None]


def ignore(cycle: Cycle) -> None:
    """Does nothing with a cycle."""


class RunningJob:
    """A job that runs, with the controller beside it. Use it in a `with` block, or `stop` it."""

    def __init__(
        self,
        engine: SparkEngine,
        controller: Controller,
        store: Store,
        account: Account,
        claim: Claim | None,
        observers: Observers,
    ) -> None:
        self._claim = claim
        self.engine = engine
        self.controller = controller
        self.observers = observers
        self._store = store
        self._account = account

    @property
    def topology(self) -> Topology:
        return self.engine.topology

    @property
    def plan(self) -> Plan:
        """The plan in force."""
        return self.engine.plan()

    @property
    def mode(self) -> Mode:
        """How far Penstock may go; it may be set while the job runs, from any thread. The report begins anew then."""
        return self.controller.loop.mode

    @mode.setter
    def mode(self, mode: Mode | str) -> None:
        check_choice("mode", str(mode), [known.value for known in Mode])
        self.controller.loop.mode = Mode(mode)
        log.info("the mode is %s now", self.mode)

    def report(self) -> JobReport:
        """What the job took so far, the time outside its target, its changes and what is not measured. Print it."""
        notes = [*load_notes(self.controller.loop), *self.engine.notes()]
        return self._account.report(notes, self.engine.duplicates)

    def _repr_html_(self) -> str:
        """For notebooks: the report."""
        return self.report()._repr_html_()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the job ends, at most `seconds`; True if it has ended. Raises the error that ended it, if any."""
        return self.engine.wait(seconds)

    def stop(self) -> None:
        """Stop the controller first, then the job, so that no change is made to a job that is being stopped."""
        self.engine.slots.cancel()  # a change may be waiting for executors
        self.controller.stop()
        self.engine.stop()
        self.observers.close()
        self._store.close()
        if self._claim is not None:
            self._claim.release()

    def __enter__(self) -> RunningJob:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()


def steer(
    engine: SparkEngine,
    name: str,
    slo: Slo,
    checkpoint: str,
    steering: Steering,
    plan: Plan | None = None,
    on_cycle: Callable[[Cycle], None] = ignore,
) -> RunningJob:
    """Start a job with the control loop beside it. It goes on with the models, and without a `plan` with the plan, that
    an earlier run left in the store."""
    check_checkpoint(checkpoint)
    if plan is not None:
        plan.check_bounds(engine.topology)
    policy = steering.chosen_policy()  # before the store, which leaves a file
    with ExitStack() as unless_it_starts:
        claim = engine.slots.claim(f"job {name}")
        if claim is not None:
            unless_it_starts.callback(claim.release)
        given = _store_beside(engine.local_checkpoint) if steering.store is None else steering.store
        observers = Observers(steering, given)
        unless_it_starts.callback(observers.close)
        store = open_store(observers.store, name, steering.retention)
        unless_it_starts.callback(store.close)
        limit = ExecutorLimit(engine.slots, engine.slots_needed)
        loop = assemble(
            steering,
            topology=engine.topology,
            slo=slo,
            monitor=engine,
            actuator=engine,
            clock=engine,
            store=store,
            execution=engine.execution,
            policy=policy,
            trigger_seconds=engine.trigger_seconds,
            rounding=limit if engine.changes_executors else None,
            leaving=engine.slots.leaving,
        )
        _start(engine, plan, loop.resume(), limit.filled(Plan.smallest(engine.topology), engine.topology))
        unless_it_starts.pop_all()
    account = Account(slo, loop.mode, engine.slots_needed, engine.slots.bill())

    def after_each(cycle: Cycle) -> None:
        engine.give_back()  # executors that came late, and those that could not be released before
        account.add(cycle)
        on_cycle(cycle)

    controller = Controller(loop, after_each, name=name)
    observers.add(controller)
    controller.start()
    return RunningJob(engine, controller, store, account, claim, observers)


def _start(engine: SparkEngine, plan: Plan | None, resumed: Plan | None, smallest: Plan) -> None:
    try:
        engine.start(plan or resumed or smallest)
    except NotEnoughSlotsError as error:
        if plan is not None or resumed is None:
            raise
        log.warning("the job starts with the smallest plan, as that of its last run does not fit: %s", error)
        engine.start(smallest)


def check_checkpoint(checkpoint: str) -> None:
    if not checkpoint:
        raise InvalidValueError("checkpoint", "must name a folder, from which the job goes on after a stop")


def _store_beside(checkpoint: Path | None) -> str | None:
    """The URL of a SQLite file beside a checkpoint on a local disk; None for a checkpoint elsewhere, and where there
    cannot be one."""
    if checkpoint is None:
        log.warning("the history is kept in memory: name a store to keep it where the checkpoint is not a local folder")
        return None
    checkpoint.mkdir(parents=True, exist_ok=True)
    return usable_store(checkpoint / "penstock.db")
