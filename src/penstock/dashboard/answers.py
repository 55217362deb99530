"""What the page is told, as plain values: one function for each question that it asks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.model import Cycle, InvalidValueError, JobDescription, Observation, Plan, Sample, Slo
from penstock.model.errors import unknown
from penstock.performance.what_if import outlook
from penstock.stores.codec import plain
from penstock.stores.cycle_json import cycle_json
from penstock.stores.history import History, Recorded, Span
from penstock.stores.snapshot import finite, outlook_json

BUCKETS, MOST_BUCKETS = 600, 6_000
"""Points of a chart, and the most that anybody is given: a year has three million cycles."""
LISTED = 40
FOLLOWED = 30
"""A decision is judged by the cycles up to the next change, and at most so many."""
SEEN_CYCLES = 20
"""What a plan would bring is reckoned from the windows of so many cycles."""


def jobs(history: History) -> dict[str, Any]:
    """The jobs of the store, each with its newest decision."""
    listed = []
    for name in history.jobs():
        span = history.span(name)
        if span is not None:
            (newest,) = history.decisions(span, 1)
            listed.append({"name": name, "cycles": span.last - span.first + 1, "latest": summary(newest)})
    return {"store": history.name, "jobs": listed}


def job(
    history: History, name: str, since: int = 0, bucket_seconds: float | None = None,
    begin: float | None = None, end: float | None = None,
) -> dict[str, Any]:  # fmt: skip
    """All that the page shows of a job but the decisions; with `since`, what is new from that cycle on.

    begin, end  the part of the time that is shown; None: all
    """
    span, description = _span(history, name), history.description(name)
    shown = (span.ended if end is None else end) - (span.began if begin is None else begin)
    bucket = max(bucket_seconds or shown / BUCKETS, shown / MOST_BUCKETS, 1e-3)
    since = history.at(span, begin) if begin is not None and not since else since
    plans = history.plans(span, since, end)
    (newest,) = history.decisions(span, 1)
    return _answer({
        "job": name, "simulated": span.simulated, "number": span.last, "began": span.began, "ended": span.ended,
        "bucket_seconds": bucket, "description": _description(description),
        "chart": history.chart(span, bucket, since, end), "plans": plans,
        "latest": summary(newest) | {"operators": _operators(history, span)},
    })  # fmt: skip


def decisions(
    history: History, name: str, before: int | None = None, after: int = 0, changes: bool = False
) -> dict[str, Any]:
    """The newest decisions, holds included, newest first."""
    span = _span(history, name)
    found = history.decisions(span, LISTED, before, after, changes)
    return {"decisions": [summary(each) for each in found], "first": span.first}


def decision(history: History, name: str, number: int) -> dict[str, Any]:
    """One decision with its figures, and what came of it."""
    span, description = _span(history, name), history.description(name)
    found = history.following(span, number, FOLLOWED)
    if not found or found[0].number != number:
        raise InvalidValueError("decision", f"{number} is not among those of {name}")
    cycle, slo = found[0].cycle, Slo() if description is None else description.slo
    return _answer(
        summary(found[0])
        | {"figures": plain(cycle.decision.figures), "wanted": plain(cycle.decision.wanted)}
        | {"samples": [_sample(sample, slo) for sample in cycle.samples]}
        | {"afterwards": _afterwards(found[1:], slo)}
    )


def what_if(history: History, name: str, parallelism: Mapping[str, int]) -> dict[str, Any]:
    """What would be expected of a plan now; operators that it leaves out stay as they are."""
    span, description = _span(history, name), history.description(name)
    if description is None:
        raise InvalidValueError("job", f"{name} was recorded by an earlier Penstock, which did not keep its operators")
    recent = [each.cycle for each in reversed(history.decisions(span, SEEN_CYCLES))]
    samples = tuple(sample for cycle in recent for sample in cycle.samples if not sample.warm_up)
    if not samples:
        raise InvalidValueError("job", f"{name} has shown no window lately that counts")
    observation = Observation(
        t=recent[-1].t, topology=description.topology, slo=description.slo, execution=description.execution,
        plan=_in_force(recent[-1]), samples=samples,
    )  # fmt: skip
    for operator in parallelism:
        if operator not in description.topology.names:
            raise InvalidValueError("plan: operator", unknown(operator, description.topology.names))
    found = outlook(observation, observation.plan.changed(parallelism))
    return _answer(outlook_json(found))


# Parts of answers ---------------------------------------------------------------------------------------------------


def summary(recorded: Recorded) -> dict[str, Any]:
    """A decision in a list."""
    cycle = recorded.cycle
    return cycle_json(cycle) | {
        "number": recorded.number,
        "mode": cycle.mode.value,
        "change_seconds": cycle.change_seconds,
        "in_force": plain(_in_force(cycle)),
        "meaning": cycle.decision.reason.code.meaning,
    }


def _answer(value: dict[str, Any]) -> dict[str, Any]:
    """JSON has neither NaN nor infinity."""
    known: dict[str, Any] = finite(value)
    return known


def _span(history: History, name: str) -> Span:
    span = history.span(name)
    if span is None:
        raise InvalidValueError("job", unknown(name, history.jobs()))
    return span


def _in_force(cycle: Cycle) -> Plan:
    return cycle.decision.plan if cycle.applied else cycle.before


def _description(description: JobDescription | None) -> dict[str, Any] | None:
    if description is None:
        return None
    topology = description.topology
    operators = [
        {"name": each.name, "min": each.min, "max": topology.ceiling(each.name), "stateful": each.stateful}
        for each in topology.operators
    ]
    return {
        "operators": operators, "edges": plain(topology.edges), "order": list(topology.order),
        "slo": plain(description.slo), "execution": description.execution.value, "policy": description.policy,
        "interval_seconds": description.interval_seconds,
    }  # fmt: skip


def _operators(history: History, span: Span) -> dict[str, Any]:
    """The newest figures of each operator: the newest cycles need not have measured anything."""
    for each in history.decisions(span, SEEN_CYCLES):
        for sample in reversed(each.cycle.samples):
            if not sample.warm_up:
                return {
                    name: {
                        "parallelism": figures.parallelism,
                        "utilisation": _share(figures.useful_seconds, figures.parallelism * sample.seconds),
                        "rate": _share(figures.records_in, sample.seconds),
                        "queue": figures.queue,
                    }
                    for name, figures in sample.operators.items()
                }
    return {}


def _share(part: float | None, whole: float) -> float | None:
    return None if part is None else part / whole


def _sample(sample: Sample, slo: Slo) -> dict[str, Any]:
    latencies = {
        "processing_latency_ms": sample.processing_latency_ms and sample.processing_latency_ms.at(slo.statistic),
        "event_latency_ms": sample.event_latency_ms and sample.event_latency_ms.at(slo.statistic),
    }
    return latencies | {
        "t": sample.t, "seconds": sample.seconds, "input_rate": sample.job_input_rate, "throughput": sample.throughput,
        "backlog": sample.backlog, "executors": sample.executors, "warm_up": sample.warm_up,
        "missed": list(slo.violations(sample)),
    }  # fmt: skip


def _afterwards(later: list[Recorded], slo: Slo) -> dict[str, Any] | None:
    """What was measured up to the next change; None before anything was."""
    until = next((i + 1 for i, each in enumerate(later) if each.cycle.changed), len(later))
    windows = [sample for each in later[:until] for sample in each.cycle.samples]
    counted = [sample for sample in windows if not sample.warm_up]
    if not counted:
        return None
    shown = [_sample(sample, slo) for sample in counted]

    def known(figure: str) -> list[float]:
        return [sample[figure] for sample in shown if sample[figure] is not None]

    return {
        "seconds": sum(sample.seconds for sample in windows),
        "warm_up_seconds": sum(sample.seconds for sample in windows if sample.warm_up),
        "missed_seconds": sum(sample.seconds for sample in windows if slo.violations(sample)),
        "throughput": _mean(known("throughput")),
        "input_rate": _mean(known("input_rate")),
        "processing_latency_ms": _mean(known("processing_latency_ms")),
        "event_latency_ms": _mean(known("event_latency_ms")),
        "backlog": known("backlog")[-1] if known("backlog") else None,
        "until_the_next_change": until < len(later) or (until > 0 and later[until - 1].cycle.changed),
    }


def _mean(figures: list[float]) -> float | None:
    return sum(figures) / len(figures) if figures else None
