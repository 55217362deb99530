"""A simulated twin of a query that a log tells of: its load, what its batches cost, the executors that it is made of.

One instance of the twin's one operator is one executor, so that plans are whole executors, as they are paid for. Where
executors cannot be told apart (several queries share them, or the driver runs the tasks) it is one slot.

Glossary: f, u and o are those of `performance/batch_cost`, e is `QueryHistory.stretch`, c the slots of an instance.

    a record takes an instance  e u / c  seconds, a batch  e f / c  besides, and o while no instance works
    n tasks on k instances take ceil(n / (c k)) rounds
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from penstock.advise.history import History
from penstock.advise.query_history import QueryHistory
from penstock.load.trace import Trace
from penstock.model import JOB, Execution, InvalidValueError, Operator, Plan, Slo, Topology
from penstock.runs.workload import Workload
from penstock.simulator.conditions import SPARK, Conditions
from penstock.simulator.executors import Executors
from penstock.simulator.job import Behaviour, Engine, Job

LEAST_SERVICE_MS = 1e-6
AT_ONCE_SECONDS = 0.1
"""The trigger interval of a twin whose batches follow one another: it looks for records this often."""

MOST_NOISE = 0.3
ROOM = 2
"""Policies may use up to this many times the executors that the job had at most."""


class NoTwinError(InvalidValueError):
    """A query that a log does not tell enough of."""

    def __init__(self, why: str) -> None:
        super().__init__("the query", why)
        self.why = why


@dataclass(frozen=True)
class Twin:
    """The simulated query.

    workload    the job, its load and its target
    conditions  how long executors take to come and to go
    cores       cores of one instance
    """

    workload: Workload
    conditions: Conditions
    cores: float


def twin(history: History, query: QueryHistory, slo: Slo) -> Twin:
    """The twin of a query. Raises NoTwinError, with the reason, for one that cannot be simulated."""
    if query.real_time:
        raise NoTwinError("runs in real-time mode, where a log does not tell what records cost")
    cost = query.cost.estimate
    if query.batches < 3 or query.arrived is None or not query.records:
        raise NoTwinError("has fewer than three batches beyond the first two")
    if cost is None or not history.core_time.cores_each:
        raise NoTwinError("has no stages in the log: the history server has compacted it, or it was cut")
    slots = slots_of_an_instance(history, query)
    had = max(1, round(query.core_seconds * history.share(query) / query.seconds / history.task_cpus / slots))
    tasks = (query.usual_tasks or 1) / slots
    most = max(1, had, min(math.ceil(tasks), ROOM * most_instances(history, query)))
    topology = Topology((Operator(JOB, min=1, max=most),))
    behaviour = Behaviour(
        service_ms=max(LEAST_SERVICE_MS, 1e3 * query.stretch * cost.best.per_record / slots),
        variability=0.5,
        tasks=tasks,
    )
    engine = Engine(
        execution=Execution.SEQUENTIAL,
        batch_seconds=query.trigger_seconds or AT_ONCE_SECONDS,
        batch_overhead_seconds=cost.best.overhead,
        batch_work_seconds=query.stretch * cost.best.fixed / slots,
        noise=min(MOST_NOISE, cost.noise / max(1e-9, cost.best.of(cost.typical))),
    )
    start = Plan({JOB: min(most, had)})
    job = Job(query.name, topology, {JOB: behaviour}, engine, start=start, over_provisioned=start)
    assert SPARK.executors is not None
    executors = Executors(1, SPARK.executors.arrive_seconds, SPARK.executors.leave_seconds)
    return Twin(
        Workload(job=job, slo=slo, trace=load(query), summary="", source="its event log"),
        Conditions(executors=executors),
        cores=slots * history.task_cpus,
    )


def slots_of_an_instance(history: History, query: QueryHistory) -> int:
    if history.core_time.local or not history.alone(query):
        return 1
    return max(1, history.core_time.cores_each // history.task_cpus)


def most_instances(history: History, query: QueryHistory) -> int:
    most = max(history.core_time.series.rates(), default=1.0)
    return max(1, math.ceil(history.share(query) * most / history.task_cpus / slots_of_an_instance(history, query)))


def load(query: QueryHistory) -> Trace:
    """The records that came to its sources, as a load curve from 0 s on."""
    assert query.arrived is not None
    rates, middles = query.arrived.rates(), query.arrived.middles()
    # The last bin may hold less than its width; a curve ends where the log does.
    full = [(t, rate) for t, rate in zip(middles, rates, strict=True) if t + query.arrived.width / 2 <= query.seconds]
    points = full or list(zip(middles, rates, strict=True))
    end = max(query.seconds, points[-1][0] + 1e-3)
    return Trace(
        "event log",
        (0.0, *(t for t, _ in points), end),
        (points[0][1], *(rate for _, rate in points), points[-1][1]),
    )
