"""Penstock beside queries that somebody else started: one line in an existing job, and nothing else is changed."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any, Unpack

from pyspark import SparkContext
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from penstock.control.assembly import OPTIONS, Steering, SteeringOptions
from penstock.control.ports import Store
from penstock.control.think import sentence
from penstock.model import Cycle, InvalidValueError, Mode, PenstockError, Slo, duration
from penstock.model.errors import check_choice
from penstock.model.keywords import knows_its_keywords
from penstock.model.slo import check_slo
from penstock.spark.application.active_queries import StartsAndEnds, active_queries, name_of
from penstock.spark.application.defaults import chosen_steering
from penstock.spark.application.report import ApplicationReport
from penstock.spark.application.steered_query import SteeredQuery
from penstock.spark.executors.bounds import Bounds
from penstock.spark.executors.claim import Claim
from penstock.spark.executors.executor_slots import ExecutorSlots
from penstock.spark.executors.shared_slots import SharedSlots
from penstock.spark.measure.query_monitor import JOB
from penstock.spark.measure.trigger import trigger_of_query
from penstock.spark.observers import Observers
from penstock.spark.report import Account
from penstock.stores import open_store

LOOK_SECONDS = 1.0
"""From one look at the queries that run to the next, unless the listener hears of one."""

REMEMBERED = 100
"""Reports of queries that have ended are kept for the last so many."""

log = logging.getLogger("penstock")


class Watch:
    """Steers the queries of an application by its executors. `report` may be printed at any time; `stop` leaves the
    queries and the executors as they are."""

    def __init__(
        self,
        context: SparkContext,
        session: Any,
        claimed: Claim,
        shared: SharedSlots,
        slos: Mapping[str | None, Slo],
        steering: Steering,
        observers: Observers,
        only: StreamingQuery | None = None,
    ) -> None:
        """
        session    a session of the application, in the JVM
        slos       the targets by the name of a query; None: for all others
        observers  who looks on
        only       the query to steer; None: all
        """
        self.observers = observers
        self._context = context
        self._session = session
        self._claim = claimed
        self._shared = shared
        self._slos = slos
        self._steering = steering
        self._only = None if only is None else str(only.runId)
        self._steered: dict[str, SteeredQuery] = {}  # by run
        self._left_out: dict[str, str] = {}  # why, by run
        self._stores: dict[str, Store] = {}  # by name, as the rest: a query that starts again goes on with its own
        self._known: dict[str, SteeredQuery] = {}
        self._accounts: dict[str, Account] = {}
        self._total = Account(slos[None], self.mode, lambda plan: plan[JOB], shared.slots.bill())
        self._wake = threading.Event()
        self._stopped = threading.Event()
        self._stopping = threading.Lock()
        self._thread = threading.Thread(target=self._follow, name="penstock-watch", daemon=True)
        self._complained = False
        self._listener: tuple[SparkSession, StartsAndEnds] | None = None

    def start(self) -> None:
        try:
            self._look()
        except Exception:
            self.stop()
            raise
        self._thread.start()

    def listen(self, spark: SparkSession) -> None:
        """Hear of queries of this session as soon as they start or end."""
        self._listener = (spark, StartsAndEnds(self._wake.set))
        spark.streams.addListener(self._listener[1])

    @property
    def mode(self) -> Mode:
        """How far Penstock may go; it may be set while queries run. The report begins anew then."""
        return Mode(self._steering.mode)

    @mode.setter
    def mode(self, mode: Mode | str) -> None:
        check_choice("mode", str(mode), [known.value for known in Mode])
        with self._shared.lock:
            self._steering = replace(self._steering, mode=mode)
            for query in self._steered.values():
                query.set_mode(self.mode)
        log.info("the mode is %s now", self.mode)

    def report(self) -> ApplicationReport:
        """What was or would be changed, what that costs, and what was not measured. Print it."""
        known = self._known.copy()
        accounts = {name: account for name, account in self._accounts.copy().items() if name in known}
        return ApplicationReport(
            total=self._total.report(),
            queries={name: account.report(known[name].notes(account)) for name, account in accounts.items()},
            notes=tuple(self._left_out.copy().values()),
        )

    def _repr_html_(self) -> str:
        """For notebooks: the report."""
        return self.report()._repr_html_()

    def state_holders(self) -> set[str]:
        """The executors that hold state of a query: they are the last to be released."""
        return set().union(*(query.state_holders() for query in list(self._steered.values())))

    def stop(self) -> None:
        """Stop measuring and deciding. The queries run on, with the executors that there are."""
        self._stopped.set()
        self._wake.set()
        self._shared.slots.cancel()
        if threading.current_thread() is not self._thread and self._thread.is_alive():
            self._thread.join()
        with self._stopping:
            if self._listener is not None:
                with suppress(Exception):  # Spark may have ended
                    self._listener[0].streams.removeListener(self._listener[1])
                self._listener = None
            for run in list(self._steered):
                self._end(run)
            for store in self._stores.values():
                store.close()
            self.observers.close()
            self._claim.release()

    detach = stop

    def _follow(self) -> None:
        while not self._stopped.is_set() and self._context._jsc is not None:
            try:
                self._look()
            except Exception as error:
                if self._context._jsc is None or self._stopped.is_set():
                    break  # Spark has ended
                if not self._complained:
                    log.warning("it cannot be read which queries run: %s", sentence(error))
                self._complained = True
            else:
                self._complained = False
            if self._only is not None and self._only not in self._steered:
                break  # its query has ended
            self._wake.wait(LOOK_SECONDS)
            self._wake.clear()
        self._stopped.set()
        self.stop()

    def _look(self) -> None:
        """Begin with the queries that have started, and end with those that have ended."""
        active = active_queries(self._session)
        for run, query in active.items():
            if run not in self._steered and run not in self._left_out and self._only in (None, run):
                self._begin(run, query)
        for run in [run for run in (*self._steered, *self._left_out) if run not in active]:
            self._end(run)

    def _begin(self, run: str, query: StreamingQuery) -> None:
        name = name_of(query)
        self._shared.join(run)
        try:
            steered = self._steered_query(run, query, name)
        except PenstockError as error:
            self._left_out[run] = f"{name} is left out, and nothing shrinks while it runs: {error}"
            log.warning(self._left_out[run])
            return
        except Exception:  # it may be ending: the next look shows whether it runs
            self._shared.leave(run)
            raise
        with self._shared.lock:
            steered.set_mode(self.mode)
            self._known[name] = self._steered[run] = steered
            self._accounts.setdefault(name, Account(steered.slo, self.mode, lambda plan: plan[JOB], None))
            self._forget_the_oldest()
        steered.start()
        log.info("%s is watched in %s mode", name, self.mode)

    def _steered_query(self, run: str, query: StreamingQuery, name: str) -> SteeredQuery:
        trigger_of_query(query)  # refused before a store leaves a file
        if name not in self._stores:
            self._stores[name] = open_store(self.observers.store, name, self._steering.retention)
        return SteeredQuery(
            self._context, query, run, self._shared, self._slos.get(name, self._slos[None]), self._steering,
            self._stores[name], self._on_cycle, self.observers,
        )  # fmt: skip

    def _end(self, run: str) -> None:
        self._shared.leave(run)
        self._left_out.pop(run, None)
        steered = self._steered.pop(run, None)
        if steered is not None:
            steered.stop()
            log.info("%s is watched no longer", steered.name)

    def _forget_the_oldest(self) -> None:
        running = {query.name for query in self._steered.values()}
        for name in [name for name in self._known if name not in running][: max(0, len(self._known) - REMEMBERED)]:
            self._stores.pop(name).close()
            del self._known[name], self._accounts[name]

    def _on_cycle(self, name: str, cycle: Cycle) -> None:
        """Called under the lock, so that the cycles of all queries come in the order of their times."""
        self._total.add(cycle)
        self._accounts[name].add(cycle)


@knows_its_keywords(OPTIONS)
def watch(
    spark: SparkSession,
    *,
    slo: Slo,
    executors: tuple[int, int],
    slo_by_query: Mapping[str, Slo] | None = None,
    wait: str | timedelta = "2 min",
    quick: bool = False,
    **steering: Unpack[SteeringOptions],
) -> Watch:
    """Keep the micro-batch queries of an application inside `slo` with as few executors as possible: those that run,
    and those that will be started.

    slo           the target that each query is kept within
    executors     the fewest and the most that the application may have
    slo_by_query  the targets of queries, by name, for which `slo` is not the right one
    wait          how long a change waits for executors before it goes on with those that came
    quick         decide every 2 s and with little patience: for a try of ten minutes, not for production

    The other keywords are those of `penstock.control.assembly.Steering`, but unless it is said otherwise the mode is
    "monitor", the interval "30 s", and decisions are kept in memory. A store must be named by its URL, as each query
    keeps its decisions there under its own name.
    """
    slos: dict[str | None, Slo] = {None: check_slo("slo", slo)}
    slos |= {name: check_slo(f"slo of query {name}", own) for name, own in (slo_by_query or {}).items()}
    if not hasattr(spark, "_jsparkSession"):
        raise PenstockError("a session of Spark Connect cannot be watched: watch in its driver")
    chosen = chosen_steering(steering, quick)
    if not isinstance(chosen.store, str | None):
        raise InvalidValueError("store", "must be a URL, such as sqlite:///penstock.db, as each query has its own part")
    made = _made(spark.sparkContext, spark._jsparkSession, "watch", slos, executors, wait, chosen)
    made.listen(spark)
    made.start()
    return made


@knows_its_keywords(OPTIONS)
def attach(
    query: StreamingQuery,
    *,
    slo: Slo,
    executors: tuple[int, int],
    wait: str | timedelta = "2 min",
    quick: bool = False,
    **steering: Unpack[SteeringOptions],
) -> Watch:
    """Keep one running micro-batch query inside `slo` with as few executors as possible: `watch` for one query.

    slo        the target that the query is kept within
    executors  the fewest and the most that the application may have
    wait       how long a change waits for executors before it goes on with those that came
    quick      decide every 2 s and with little patience: for a try of ten minutes, not for production

    The other keywords are those of `penstock.control.assembly.Steering`, but unless it is said otherwise the mode is
    "monitor", the interval "30 s", and decisions are kept in memory. It ends when the query ends.
    """
    slos: dict[str | None, Slo] = {None: check_slo("slo", slo)}
    if not hasattr(query, "_jsq"):
        raise PenstockError("a query of Spark Connect cannot be attached to: attach in its driver")
    chosen = chosen_steering(steering, quick)
    name = name_of(query)
    if not query.isActive:
        raise PenstockError(f"query {name} has ended: attach to it while it runs")
    trigger_of_query(query)
    context = SparkContext._active_spark_context
    if context is None:
        raise PenstockError("there is no Spark context in this process: attach in the driver that started the query")
    made = _made(context, query._jsq.sparkSession(), f"attach to query {name}", slos, executors, wait, chosen, query)
    made.start()
    return made


def _made(
    context: SparkContext,
    session: Any,
    who: str,
    slos: Mapping[str | None, Slo],
    executors: tuple[int, int],
    wait: str | timedelta,
    steering: Steering,
    only: StreamingQuery | None = None,
) -> Watch:
    bounds, wait_seconds = Bounds.of(executors), duration("wait", wait).total_seconds()
    steering.chosen_policy()  # a wrong name is refused before anything starts
    slots = ExecutorSlots(
        context, bounds=bounds, wait_seconds=wait_seconds, holders=lambda: made.state_holders()
    )  # fmt: skip
    with ExitStack() as unless_it_is_made:
        observers = Observers(steering, steering.store)
        unless_it_is_made.callback(observers.close)
        made = Watch(context, session, slots.claim(who), SharedSlots(slots, bounds), slos, steering, observers, only)
        unless_it_is_made.pop_all()
    return made
