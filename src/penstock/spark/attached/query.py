"""Penstock beside a query that already runs: three lines in an existing job, and nothing else is changed."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Unpack

from pyspark import SparkContext
from pyspark.sql.streaming.query import StreamingQuery

from penstock.control.assembly import OPTIONS, Steering, SteeringOptions, assemble
from penstock.control.clock import WallClock
from penstock.control.controller import Controller
from penstock.control.loop import Loop
from penstock.model import Cycle, Execution, Mode, PenstockError, Slo, duration
from penstock.model.keywords import knows_its_keywords
from penstock.spark.attached.savings import Report, Savings
from penstock.spark.executors.actuator import ExecutorActuator
from penstock.spark.executors.bounds import Bounds
from penstock.spark.executors.executor_slots import ExecutorSlots
from penstock.spark.executors.state_holders import state_holders
from penstock.spark.executors.whole_executors import WholeExecutors
from penstock.spark.measure.query_monitor import QueryMonitor
from penstock.spark.measure.stages import StageReader
from penstock.spark.measure.trigger import trigger_of_query
from penstock.stores import open_store

DEFAULTS: SteeringOptions = {"mode": "monitor", "interval": "30 s"}
"""A query that is not ours is only watched unless its owner says otherwise, and executors take seconds to come."""


class Attached:
    """A query that Penstock is attached to. `report` may be printed at any time; `detach` leaves the query as it is."""

    def __init__(
        self, query: StreamingQuery, monitor: QueryMonitor, slots: ExecutorSlots, loop: Loop, savings: Savings
    ) -> None:
        self._query = query
        self._monitor = monitor
        self._slots = slots
        self._savings = savings
        self._slo = loop.slo
        self._controller = Controller(loop, self._on_cycle)
        self._controller.start()

    def detach(self) -> None:
        """Stop measuring and deciding. The query runs on, with the executors that it has."""
        self._slots.cancel()
        self._controller.stop()

    def report(self) -> Report:
        """What was or would be changed, what that saves, and what was not measured."""
        return self._savings.report(self._notes())

    def _on_cycle(self, cycle: Cycle) -> None:
        self._savings.add(cycle)
        if not self._query.isActive:
            self._controller.stop()

    def _notes(self) -> list[str]:
        notes = [
            f"{source} does not report its lag: backlog and event latency are not measured, and the input rate is "
            "what the query takes, not what is offered"
            for source in self._monitor.sources_without_lag
        ]
        if self._slo.statistic != "mean":
            notes.append(f"progress events give means only, so the {self._slo.statistic} of the target is the mean")
        slots, tasks = self._savings.slots, self._monitor.most_tasks
        if tasks is not None and tasks < slots:
            notes.append(f"no stage has more than {tasks} tasks, so {slots - tasks} of {slots} slots stay idle")
        return notes


@knows_its_keywords(OPTIONS)
def attach(
    query: StreamingQuery,
    *,
    slo: Slo,
    executors: tuple[int, int],
    wait: str | timedelta = "2 min",
    **steering: Unpack[SteeringOptions],
) -> Attached:
    """Keep a running micro-batch query inside `slo` with as few executors as possible.

    slo        the target that the query is kept within
    executors  the fewest and the most that it may have
    wait       how long a change waits for executors before it goes on with those that came

    The other keywords are those of `penstock.control.assembly.Steering`, but unless it is said otherwise the mode is
    "monitor", the interval "30 s", and decisions are kept in memory.
    """
    bounds = Bounds.of(executors)
    chosen = _steering(steering)
    if not hasattr(query, "_jsq"):
        raise PenstockError("a query of Spark Connect cannot be attached to: attach in its driver")
    context, trigger_seconds = _context(), trigger_of_query(query)
    wait_seconds = duration("wait", wait).total_seconds()
    slots = ExecutorSlots(
        context, bounds=bounds, wait_seconds=wait_seconds, holders=lambda: state_holders(context, query)
    )
    whole, clock = WholeExecutors(slots.slots_each), WallClock()
    actuator = ExecutorActuator(slots, whole, clock)
    monitor = QueryMonitor(
        query, StageReader(context), clock, slots.slots, slots.executors, settled_at=lambda: actuator.settled_at
    )
    loop = assemble(
        chosen,
        topology=whole.topology(bounds.fewest, bounds.most),
        slo=slo,
        monitor=monitor,
        actuator=actuator,
        clock=clock,
        store=open_store(chosen.store, query.name or str(query.id)),
        execution=Execution.SEQUENTIAL,
        trigger_seconds=trigger_seconds,
        rounding=whole,
    )
    loop.resume()
    return Attached(query, monitor, slots, loop, Savings(slo, loop.mode, slots.cores_each, bounds.most))


def _steering(given: SteeringOptions) -> Steering:
    """In monitor mode nothing moves, so without `max_step` a report shows the whole way and not its first step."""
    options: SteeringOptions = {**DEFAULTS, **given}
    chosen = Steering(**options)
    if Mode(chosen.mode) is not Mode.MONITOR:
        return chosen
    return replace(chosen, guards={"max_step": None, **(chosen.guards or {})})


def _context() -> SparkContext:
    """The context of this driver: there is never more than one."""
    context = SparkContext._active_spark_context
    if context is None:
        raise PenstockError("there is no Spark context in this process: attach in the driver that started the query")
    return context
