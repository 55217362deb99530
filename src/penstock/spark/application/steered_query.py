"""One query that is steered by the executors of its application: its monitor, its loop, and the controller."""

from __future__ import annotations

from collections.abc import Callable

from pyspark import SparkContext
from pyspark.sql.streaming.query import StreamingQuery

from penstock.control.assembly import Steering, assemble
from penstock.control.clock import WallClock
from penstock.control.controller import Controller
from penstock.control.ports import Store
from penstock.guards import chain
from penstock.model import Cycle, Execution, Mode, ReasonCode, Slo
from penstock.performance.batch_cost import batch_seconds
from penstock.spark.application.active_queries import name_of
from penstock.spark.application.defaults import for_one_query, guards_in
from penstock.spark.executors.actuator import ExecutorActuator
from penstock.spark.executors.shared_slots import SharedSlots
from penstock.spark.executors.state_holders import state_holders
from penstock.spark.executors.whole_executors import NEEDED, WholeExecutors
from penstock.spark.measure.query_monitor import QueryMonitor
from penstock.spark.measure.stages import StageReader
from penstock.spark.measure.trigger import trigger_of_query
from penstock.spark.observers import Observers
from penstock.spark.report import Account, load_notes


class SteeredQuery:
    """A query with a loop and a controller of its own. Its executors are those of the application."""

    def __init__(
        self,
        context: SparkContext,
        query: StreamingQuery,
        run: str,
        shared: SharedSlots,
        slo: Slo,
        steering: Steering,
        store: Store,
        on_cycle: Callable[[str, Cycle], None],
        observers: Observers,
    ) -> None:
        """Raises PenstockError for a query that does not go on in micro-batches.

        run        under which it has joined `shared`
        on_cycle   called with the query's name and each cycle, while no other query has one
        observers  those of the application
        """
        self.name = name_of(query)
        self.query = query
        self.slo = slo
        self._context = context
        self._run = run
        self._shared = shared
        self._steering = for_one_query(steering)
        self._on_cycle = on_cycle
        self._rounding = WholeExecutors(lambda: shared.share(run))
        trigger_seconds, clock = trigger_of_query(query), WallClock()
        self.monitor = QueryMonitor(
            query,
            StageReader(context),
            clock,
            lambda: shared.slots.slots() - shared.share(run).others,
            shared.slots.executors,
            settled_at=lambda: shared.settled_at,
            batch_seconds=batch_seconds(slo, trigger_seconds),
        )
        self.loop = assemble(
            self._steering,
            topology=shared.share(run).topology,
            slo=slo,
            monitor=self.monitor,
            actuator=ExecutorActuator(shared, run, clock),
            clock=clock,
            store=store,
            execution=Execution.SEQUENTIAL,
            trigger_seconds=trigger_seconds,
            rounding=self._rounding,
            leaving=shared.slots.leaving,
        )
        self.set_mode(self.loop.mode)
        self.loop.resume()
        self._controller = Controller(self.loop, run=self._run_once, name=self.name)
        self._unobserved = observers.add(self._controller)

    def start(self) -> None:
        self._controller.start()

    def stop(self) -> None:
        self._controller.stop()
        self._unobserved()

    def set_mode(self, mode: Mode) -> None:
        self.loop.mode = mode
        superfluous = getattr(self.loop.policy, "takes_care_of", ())
        self.loop.guards = chain(guards_in(mode, self._steering.guards), self._rounding, superfluous)

    def state_holders(self) -> set[str]:
        return state_holders(self._context, self.query)

    def notes(self, account: Account) -> list[str]:
        """How well the load of this query is known, and what its figures leave out, in sentences."""
        notes = load_notes(self.loop)
        notes += [
            f"{source} does not report its lag: backlog and event latency are not measured, and the input rate is "
            "what the query takes, not what is offered"
            for source in self.monitor.sources_without_lag
        ]
        if self.slo.statistic != "mean":
            notes.append(f"progress events give means only, so the {self.slo.statistic} of the target is the mean")
        tasks, latest = self.monitor.most_tasks, account.latest
        slots = 0 if latest is None else latest.before.widest
        if tasks is not None and tasks < slots:
            notes.append(f"no stage has more than {tasks} tasks, so {slots - tasks} of {slots} slots stay idle")
        return notes

    def _run_once(self) -> Cycle:
        """One cycle, in which no other query changes what it needs."""
        with self._shared.lock:
            cycle = self.loop.run_once()
            slots = needed_slots(cycle)
            if slots is not None:
                self._shared.need(self._run, slots)
            self._on_cycle(self.name, cycle)
            return cycle


def needed_slots(cycle: Cycle) -> int | None:
    """The slots that the query needs as of this cycle; None if it stays with what it needed before.

    A query that never had a record has shown no rate, and is offered nothing: it needs one slot.
    """
    decision = cycle.decision
    if any(verdict.guard in ("stabilisation", "calendar") for verdict in decision.verdicts):
        return None
    if NEEDED in decision.figures:
        needed: int = decision.figures[NEEDED]
        return needed
    idle = cycle.samples and not any(sample.throughput or sample.job_input_rate for sample in cycle.samples)
    return 1 if idle and decision.reason.code is ReasonCode.MISSING_METRICS else None
