"""What a log cannot show, and what an advice rests on, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.advise.advice import QueryAdvice
from penstock.advise.history import History
from penstock.advise.query_history import QueryHistory
from penstock.performance.batch_cost import WELL_KNOWN
from penstock.simulator.conditions import SPARK

SHORT_SECONDS = 1800.0
FAR_OFF = 1.5
"""A twin whose latency is that many times the real one, or that part of it, is not to be relied on."""

LITTLE_MS = 200.0


def caveats(history: History, query: QueryHistory, told: QueryAdvice) -> tuple[str, ...]:
    return tuple(_caveats(history, query, told))


def _caveats(history: History, query: QueryHistory, told: QueryAdvice) -> Iterator[str]:
    costs, copy = told.costs, told.twin
    if query.seconds < SHORT_SECONDS:
        yield f"the log tells of {query.seconds:.0f} s only: policies hardly get to act in that time"
    if copy is not None and copy.latency_ms and told.ran.latency_ms:
        off = copy.latency_ms / told.ran.latency_ms
        apart = abs(copy.latency_ms - told.ran.latency_ms)
        if not 1 / FAR_OFF <= off <= FAR_OFF and apart > LITTLE_MS:
            yield (
                f"with the cores that the job had, its simulated twin is {copy.latency_ms / 1e3:.1f} s late on "
                f"average, where the job was {told.ran.latency_ms / 1e3:.1f} s late: do not trust the policies' figures"
            )
    if costs is not None and costs.known_within > WELL_KNOWN:
        yield (
            "its batches were too much alike to tell what a record costs from what every batch costs: what the load "
            f"needs is known to within {100 * costs.known_within:.0f} % only"
        )
    for source in query.sources_without_lag:
        yield (
            f"{source} does not report its lag: records that waited in it are not seen, the load is what the query "
            "took, and the latency is a lower bound"
        )
    if query.trigger_seconds * 1e3 > told.target_ms / 1.5:
        every, target = query.trigger_seconds, told.target_ms / 1e3
        yield f"a batch begins every {every:g} s: hardly any number of cores meets a target of {target:g} s"
    if history.core_time.local:
        yield "the driver ran the tasks itself (local mode): cores are its threads, and core-hours are nominal"
    elif len(history.queries) > 1:
        yield (
            f"{len(history.queries)} queries share the executors: cores are told apart by the time of their tasks, and "
            "plans are single slots, where a cluster gives whole executors to all of them together"
        )
    if history.other_seconds > 0.1 * (query.task_seconds + history.other_seconds):
        yield f"tasks of no query took {history.other_seconds / 3600:.1f} core-hours of the application besides"
    if history.settings.get("spark.dynamicAllocation.enabled") == "true":
        yield "dynamic allocation was on: what ran is what it chose"
    executors = SPARK.executors
    assert executors is not None
    yield (
        f"a log does not show how long an executor takes to come: {executors.arrive_seconds:g} s are assumed, and "
        f"{executors.leave_seconds:g} s to leave"
    )
    yield (
        "memory is not simulated: with fewer executors there is less of it for state and caches. Latency is worked out "
        "from batches, not measured on records"
    )
