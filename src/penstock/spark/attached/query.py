"""Penstock for a query that already runs: three lines in an existing job, nothing else changed."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from pyspark import SparkContext
from pyspark.sql.streaming.query import StreamingQuery

from penstock.control.clock import WallClock
from penstock.control.controller import Controller
from penstock.control.loop import Loop, Settings
from penstock.control.ports import Store
from penstock.guards import chain
from penstock.model import Cycle, Execution, InvalidValueError, Mode, PenstockError, Slo, duration
from penstock.model.errors import check_choice, check_whole
from penstock.performance.batch_cost import batch_seconds
from penstock.policies import POLICIES, Policy
from penstock.spark.attached.savings import Report, Savings
from penstock.spark.executors.executors import Executors
from penstock.spark.executors.state_holders import state_holders
from penstock.spark.executors.whole_executors import ExecutorActuator, WholeExecutors
from penstock.spark.measure.query_monitor import QueryMonitor
from penstock.spark.measure.stage_work import StageWork
from penstock.spark.measure.trigger import trigger_seconds
from penstock.stores import open_store

HEADROOM: Mapping[str, Any] = {"utilisation": 0.8}
"""For ds2 as we use it by default: an attached job has to drain what it missed while executors were on their way."""


class Attached:
    """A query under watch. `report` may be printed at any time; `detach` leaves the query as it is."""

    def __init__(
        self, query: StreamingQuery, monitor: QueryMonitor, actuator: ExecutorActuator, loop: Loop, savings: Savings
    ) -> None:
        self._query = query
        self._monitor = monitor
        self._actuator = actuator
        self._savings = savings
        self._slo = loop.slo
        self._controller = Controller(loop, self._heard)
        self._controller.start()

    def detach(self) -> None:
        """Stop watching. The query runs on, with the executors that it has."""
        self._actuator.given_up = True
        self._controller.stop()

    def report(self) -> Report:
        """What it did or would do, what that saves, and what it cannot see."""
        return self._savings.report(self._cannot_see())

    def _heard(self, cycle: Cycle) -> None:
        self._savings.add(cycle)
        if not self._query.isActive:
            self._controller.stop()

    def _cannot_see(self) -> list[str]:
        spots = [
            f"{source} does not report its lag: backlog and event latency are not measured, and the input rate is "
            "what the query takes, not what is offered"
            for source in self._monitor.silent_sources
        ]
        if self._slo.statistic != "mean":
            spots.append(f"progress events give means only, so the {self._slo.statistic} of the target is the mean")
        slots, tasks = self._savings.slots, self._monitor.most_tasks
        if 0 < tasks < slots:
            spots.append(f"no stage has more than {tasks} tasks, so {slots - tasks} of {slots} slots stay idle")
        return spots


def attach(
    query: StreamingQuery,
    *,
    slo: Slo,
    executors: tuple[int, int],
    mode: str = "monitor",
    policy: str | Policy = "ds2",
    options: Mapping[str, Any] | None = None,
    guards: Mapping[str, Mapping[str, Any] | None] | None = None,
    store: str | Store | None = None,
    interval: str | timedelta = "30 s",
    wait: str | timedelta = "2 min",
) -> Attached:
    """Keep a running micro-batch query inside `slo` with as few executors as possible.

    executors  the fewest and the most that it may have
    mode       "monitor" only says what it would do; "active" does it
    policy     the name of one, with its `options`, or a policy of your own
    guards     options of the guards by name; None switches one off
    store      where decisions are kept, such as "sqlite:///penstock.db"; by default in memory
    interval   from one decision to the next
    wait       how long a change waits for executors before it makes do with those that came
    """
    least, most = _bounds(executors)
    check_choice("mode", mode, [each.value for each in Mode])
    seconds = duration("interval", interval).total_seconds()
    if not hasattr(query, "_jsq"):
        raise PenstockError("a query of Spark Connect cannot be attached to: attach in its driver")
    context, between_batches = _context(), trigger_seconds(query)
    theirs = Executors(context)
    if theirs.most is not None and most > theirs.most:
        raise InvalidValueError("executors", f"must be at most {theirs.most}: spark.cores.max has room for no more")
    whole, clock = WholeExecutors(theirs.slots_each), WallClock()
    actuator = ExecutorActuator(
        theirs, whole, clock, duration("wait", wait).total_seconds(), lambda: state_holders(context, query)
    )
    work = StageWork(context, str(query.runId))
    monitor = QueryMonitor(
        query, work, theirs.present, clock, batch_seconds(slo, between_batches), lambda: actuator.settled_at
    )
    if store is None or isinstance(store, str):
        store = open_store(store, job=query.name or str(query.id))
    loop = Loop(
        topology=whole.topology(least, most),
        slo=slo,
        policy=_policy(policy, options),
        monitor=monitor,
        actuator=actuator,
        store=store,
        clock=clock,
        guards=whole.among(chain(_guards(guards, Mode(mode)))),
        execution=Execution.SEQUENTIAL,
        mode=Mode(mode),
        settings=Settings(interval_seconds=seconds),
    )
    loop.resume()
    return Attached(query, monitor, actuator, loop, Savings(slo, Mode(mode), theirs.cores_each, most))


def _bounds(executors: tuple[int, int]) -> tuple[int, int]:
    try:
        least, most = executors
    except (TypeError, ValueError):
        raise InvalidValueError(
            "executors", f"must be the fewest and the most, such as (1, 20), not {executors!r}"
        ) from None
    check_whole("executors: the fewest", least, 1)
    check_whole("executors: the most", most, least)
    return least, most


def _policy(policy: str | Policy, options: Mapping[str, Any] | None) -> Policy:
    if isinstance(policy, str):
        return POLICIES.create(policy, HEADROOM if policy == "ds2" and options is None else options)
    if options is not None:
        raise InvalidValueError("options", "must be left out for a policy that is given ready-made")
    return policy


def _guards(
    guards: Mapping[str, Mapping[str, Any] | None] | None, mode: Mode
) -> Mapping[str, Mapping[str, Any] | None]:
    """In monitor mode nothing moves, so the first of several steps would be all that one ever sees."""
    return {**({"max_step": None} if mode is Mode.MONITOR else {}), **(guards or {})}


def _context() -> SparkContext:
    """The context of this driver: there is never more than one."""
    context = SparkContext._active_spark_context
    if context is None:
        raise PenstockError("there is no Spark context in this process: attach in the driver that started the query")
    return context
