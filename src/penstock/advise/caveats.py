"""What a log cannot show, and what an advice rests on, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.advise.advice import QueryAdvice
from penstock.advise.history import History
from penstock.advise.query_history import QueryHistory
from penstock.performance.batch_cost import WELL_KNOWN
from penstock.simulator.conditions import SPARK

assert SPARK.executors is not None
ASSUMED = (
    f"A log does not show how long an executor takes to come: {SPARK.executors.arrive_seconds:g} s are assumed, and "
    f"{SPARK.executors.leave_seconds:g} s to leave.",
    "Memory is not simulated: with fewer executors there is less of it for state and caches.",
    "Latency is worked out from batches, not measured on records, and stages are taken to run as well on fewer cores.",
)
"""What every advice rests on."""

SHORT_SECONDS = 1800.0
FAR_OFF = 1.5
"""A twin whose latency is that many times the real one, or that part of it, is not to be relied on."""

LITTLE_SECONDS = 0.2


def caveats(history: History, query: QueryHistory, told: QueryAdvice) -> tuple[str, ...]:
    return tuple(f"{text[0].upper()}{text[1:]}." for text in _caveats(history, query, told))


def _caveats(history: History, query: QueryHistory, told: QueryAdvice) -> Iterator[str]:
    costs, copy = told.costs, told.twin
    if copy is not None and copy.latency_ms and told.ran.latency_ms:
        yield _how_good(copy.latency_ms / 1e3, told.ran.latency_ms / 1e3)
    if copy is not None and query.seconds < SHORT_SECONDS:
        yield f"the log tells of {query.seconds / 60:.0f} min only: a policy saves little before it has seen more"
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
    elif not history.alone(query):
        yield (
            "other queries share the executors: cores are told apart by the time of their tasks, and plans are single "
            "slots, where a cluster gives whole executors to all of them together"
        )
    if history.other_seconds > 0.1 * (query.task_seconds + history.other_seconds):
        yield f"tasks of no query took {history.other_seconds / 3600:.1f} core-hours of the application besides"
    if history.settings.get("spark.dynamicAllocation.enabled") == "true":
        yield "dynamic allocation was on: what ran is what it chose"


def _how_good(simulated: float, really: float) -> str:
    """How well the twin imitates the job, as far as can be seen: with the cores that the job had."""
    text = f"simulated with the cores that it had, the job is {simulated:.1f} s late on average; it was {really:.1f} s"
    alike = 1 / FAR_OFF <= simulated / really <= FAR_OFF or abs(simulated - really) <= LITTLE_SECONDS
    return text if alike else f"{text}: do not trust the figures of policies"
