"""Asks what policies would have done: each runs the twin of a query under the load that its log shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from threadpoolctl import threadpool_limits

from penstock.advise.advice import Costs, Curve, Failure, LogAdvice, Outcome, QueryAdvice
from penstock.advise.caveats import caveats
from penstock.advise.history import History, read_history
from penstock.advise.log_files import BrokenLogError, EventLog
from penstock.advise.query_history import QueryHistory
from penstock.advise.series import Series
from penstock.advise.twin import NoTwinError, Twin, slots_of_an_instance, twin
from penstock.model import JOB, PenstockError, Plan, Slo
from penstock.performance.batch_cost import batch_seconds
from penstock.runs.oracle import NAME, oracle
from penstock.runs.result import Result
from penstock.runs.schedule import Schedule
from penstock.runs.simulation import OnCycle, Simulation

DEFAULT_POLICIES: tuple[tuple[str, str, Mapping[str, Any]], ...] = (
    ("predictive", "predictive", {}),
    ("ds2 utilisation=0.8", "ds2", {"utilisation": 0.8}),
    ("threshold", "threshold", {}),
    ("spark_dynamic_allocation", "spark_dynamic_allocation", {}),
)
"""Ours; the rule that jobs are steered by unless somebody says otherwise; that of most clusters; Spark's own."""

OnProgress = Callable[[float], None]

DECISIONS, MOST_DECISIONS, OF_THE_ORACLE = 1000, 4000, 300
"""About so many decisions are simulated, so many at most: a log of days is to be advised on in less than a minute."""

QUICKEST, QUICK, SLOWEST = 10.0, 30.0, 300.0
"""Seconds from one decision to the next: for a log of less than an hour, of hours, of a week."""

LEAST_DECISIONS = 8
"""In a log that is shorter than so many intervals no policy gets to act."""

OF_TRIGGERS = 3
"""At least so many batches lie between two decisions."""

READING = 0.3
"""About this part of the time goes into reading a log."""

SHOWN = 600
"""Points of a curve that a page shows."""


@dataclass(frozen=True)
class Ask:
    """What is asked of each log.

    slo       the target
    policies  label, name and options of each; the first is the one that is recommended
    oracle    whether to ask for the cheapest schedule as well
    learns    whether to learn what can be kept for later
    """

    slo: Slo
    policies: Sequence[tuple[str, str, Mapping[str, Any]]] = DEFAULT_POLICIES
    oracle: bool = True
    learns: bool = False


def advise_log(ask: Ask, log: EventLog, on_progress: OnProgress = lambda part: None) -> LogAdvice:
    """Read a log and advise on each of its queries. A log that is broken is a failure with file and line.

    `on_progress` is called with the part that is done.
    """
    try:
        history = _read(ask, log, on_progress)
    except BrokenLogError as error:
        return LogAdvice(failure=Failure(error.file, error.line, error.why))
    ran = [query for query in history.queries.values() if query.seconds > 0]
    if not ran:
        return LogAdvice(failure=Failure(log.path, None, "the log has no two batches of a streaming query in it"))
    share = (1 - READING) / len(ran)
    with threadpool_limits(1):  # matrices are small
        return LogAdvice(tuple(
            advise_query(ask, log, history, query, _part(on_progress, READING + number * share, share))
            for number, query in enumerate(ran)
        ))  # fmt: skip


def _read(ask: Ask, log: EventLog, on_progress: OnProgress) -> History:
    return read_history(log, ask.slo, learns=ask.learns, on_bytes=_part(on_progress, 0.0, READING / max(1, log.size)))


def _times(part: OnProgress) -> OnCycle:
    return lambda cycle: part(cycle.t)


def _part(on_progress: OnProgress, begin: float, scale: float) -> OnProgress:
    """Reports the progress of a part of the work."""
    return lambda done: on_progress(begin + scale * done)


def advise_query(
    ask: Ask, log: EventLog, history: History, query: QueryHistory, on_progress: OnProgress
) -> QueryAdvice:
    """How a query ran, and what policies would have made of its load."""
    told = as_it_ran(ask.slo, log, history, query)
    if query.learner is not None:
        told = replace(told, knowledge=query.learner.knowledge(query.key))
    try:
        copy = twin(history, query, ask.slo)
        if query.seconds < LEAST_DECISIONS * interval_of(query):
            raise NoTwinError(f"has {query.seconds:.0f} s in the log, in which no policy gets to act")
    except NoTwinError as error:
        return replace(told, why_not=error.why, notes=caveats(history, query, told))
    simulation = _simulation(copy, interval_of(query))
    policies, share = {}, 1 / (len(ask.policies) + 1)
    for number, (label, name, options) in enumerate(ask.policies):
        part = _part(on_progress, number * share, share / query.seconds)
        run = replace(simulation, policy=name, policy_options=dict(options)).run(_times(part))
        policies[label] = _outcome(copy, run)
    told = replace(told, policies=policies, twin=_as_it_had(copy, simulation, history, query))
    if ask.oracle:
        told = replace(told, oracle=_oracle(copy, query))
    return replace(told, notes=caveats(history, query, told))


def as_it_ran(slo: Slo, log: EventLog, history: History, query: QueryHistory) -> QueryAdvice:
    share = history.share(query)
    core_seconds = share * query.core_seconds
    slots = slots_of_an_instance(history, query)
    assert query.arrived is not None
    assert query.latency_seconds is not None
    mean, p95 = query.latency.mean, query.latency.at(0.95)
    return QueryAdvice(
        file=log.path,
        application=history.application,
        application_name=history.name,
        version=history.version,
        query=query.name,
        begin=query.begin,
        seconds=query.seconds,
        target_ms=1e3 * slo.tolerated_lag_seconds,
        unit="slot" if history.core_time.local or not history.alone(query) else "executor",
        unit_cores=slots * history.task_cpus,
        used_ratio=min(1.0, query.task_seconds * history.task_cpus / core_seconds) if core_seconds else 0.0,
        rate=query.records / query.seconds,
        highest_rate=max(query.arrived.rates(), default=0.0),
        lag=None if query.sources_without_lag else query.highest_lag,
        ran=Outcome(
            core_hours=core_seconds / 3600,
            violation_ratio=min(1.0, query.outside_seconds / query.seconds),
            changes=history.core_time.changes,
            latency_ms=None if mean is None else 1e3 * mean,
            latency_p95_ms=None if p95 is None else 1e3 * p95,
            cores=_curve(_since(history.core_time.series, query), share),
        ),
        load=_curve(query.arrived),
        latency=_curve(query.latency_seconds),
        costs=_costs(slo, query, max(query.arrived.rates(), default=0.0)),
    )


def _costs(slo: Slo, query: QueryHistory, highest_rate: float) -> Costs | None:
    """None where the log has no stages of the query."""
    estimate = query.cost.estimate
    if estimate is None:
        return None
    seconds = batch_seconds(slo, query.trigger_seconds)
    return Costs(
        estimate.best.fixed, estimate.best.per_record, estimate.best.overhead,
        estimate.load(max(highest_rate, 1e-9), seconds).known_within, query.usual_tasks or 1,
        query.trigger_seconds, query.batch_seconds / query.batches, query.longest_seconds,
    )  # fmt: skip


def interval_of(query: QueryHistory) -> float:
    """Seconds from one decision to the next in the simulator.

    A long log has longer ones, so that it does not take long: no advantage to a policy.
    """
    shortest = QUICKEST if query.seconds < 3600 else QUICK
    wanted = max(min(SLOWEST, query.seconds / DECISIONS), query.seconds / MOST_DECISIONS)
    return max(shortest * max(1, round(wanted / shortest)), OF_TRIGGERS * query.trigger_seconds)


def interval_of_the_oracle(query: QueryHistory) -> float:
    return max(60.0, query.seconds / OF_THE_ORACLE, OF_TRIGGERS * query.trigger_seconds)


def _simulation(copy: Twin, interval: float) -> Simulation:
    return Simulation(workload=copy.workload, interval=f"{interval:.3f} s", conditions=copy.conditions)


def _oracle(copy: Twin, query: QueryHistory) -> Outcome | None:
    """None where no plan meets the target, so that there is no schedule to look for."""
    try:
        best = oracle(_simulation(copy, interval_of_the_oracle(query)), (0,)).best
    except PenstockError:
        return None
    return _outcome(copy, replace(best.results[0], policy=NAME))


def _as_it_had(copy: Twin, simulation: Simulation, history: History, query: QueryHistory) -> Outcome:
    """The twin with as many executors as the job really had: to be compared with how it really ran."""
    cores, job = _since(history.core_time.series, query), copy.workload.job
    rates, share = cores.rates(), history.share(query)
    plans = []
    for number in range(max(1, int(query.seconds / simulation.interval_seconds))):
        place = min(len(rates) - 1, int((number + 0.5) * simulation.interval_seconds / cores.width))
        had = round(share * rates[place] / copy.cores)
        plans.append(Plan({JOB: job.topology.clamp(JOB, max(1, had))}))
    return _outcome(copy, Schedule(tuple(plans)).run(simulation, 0, "twin"))


def _outcome(copy: Twin, result: Result) -> Outcome:
    return Outcome(
        core_hours=result.core_seconds * copy.cores / 3600,
        violation_ratio=result.violation_ratio,
        changes=result.rescales,
        latency_ms=result.event_latency_ms.mean,
        latency_p95_ms=result.event_latency_ms.p95,
        cores=_steps(result, copy.cores),
    )


def _steps(result: Result, cores: float) -> Curve:
    """The cores of the plans that were in force, as a curve."""
    width = max(result.seconds / SHOWN, 1e-3)
    values, number = [], 0
    for place in range(max(1, int(result.seconds / width))):
        while number + 1 < len(result.supply) and result.supply[number + 1][0] <= place * width:
            number += 1
        values.append(result.supply[number][1] * cores)
    return Curve(width, tuple(values))


def _since(series: Series, query: QueryHistory) -> Series:
    """The part of an application's series from the first batch of a query on."""
    part = Series(query.begin, series.width)
    skipped = max(0, int((query.begin - series.begin) / series.width))
    part.amounts = series.amounts[skipped:] or [0.0]
    return part


def _curve(series: Series, scale: float = 1.0) -> Curve:
    rates = [scale * rate for rate in series.rates()]
    if len(rates) > 1:
        rates.pop()  # the last bin has not been filled to its end
    each = max(1, len(rates) // SHOWN)
    groups = [rates[i : i + each] for i in range(0, len(rates), each)]
    return Curve(series.width * each, tuple(sum(group) / len(group) for group in groups))
