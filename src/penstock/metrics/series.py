"""The series, one by one: name, meaning, and where the figure comes from. The reference page is made from this list.

Names and labels are an interface: dashboards and alerts of users rest on them. Units are Prometheus' base units.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from penstock.metrics.job_figures import JobFigures
from penstock.model import Latency, Mode, Plan, ReasonCode, Sample
from penstock.model.sample import STATISTICS

JOB_LABELS = ("application_id", "query_name")
"""Every series has these two: Spark's name of the application, and that of the query or the pipeline. There is no label
with a run's id: a query that starts again goes on with its series."""

Values = Iterable[tuple[tuple[str, ...], float | None]]
"""The values of the labels that a series has besides, and the figure; a figure that is None has no line."""


@dataclass(frozen=True, slots=True)
class Series:
    """One series of every job.

    name     as Prometheus knows it; a counter ends in _total
    kind     gauge or counter
    meaning  what it counts
    labels   labels besides those of the job
    read     its figures for one job
    """

    name: str
    kind: Literal["gauge", "counter"]
    meaning: str
    read: Callable[[JobFigures], Values]
    labels: tuple[str, ...] = ()


def one(read: Callable[[JobFigures], float | None]) -> Callable[[JobFigures], Values]:
    return lambda job: [((), read(job))]


def sampled(read: Callable[[Sample], float | None]) -> Callable[[JobFigures], Values]:
    """A figure of the newest window that counts."""
    return lambda job: [((), None if job.sample is None else read(job.sample))]


def each(read: Callable[[JobFigures], Mapping[str, float]]) -> Callable[[JobFigures], Values]:
    """Figures by the value of one label. They are copied, as the controller goes on while Prometheus reads."""
    return lambda job: [((name,), figure) for name, figure in dict(read(job)).items()]


def parallelism(plan: Plan | None) -> dict[str, float]:
    return {} if plan is None else dict(plan.parallelism)


def executors(plan: Plan | None) -> float | None:
    return None if plan is None else plan.executors


def seconds(latency: Latency | None) -> Values:
    figures = {} if latency is None else {name: getattr(latency, name) for name in STATISTICS}
    return [((name,), None if figure is None else figure / 1e3) for name, figure in figures.items()]


def in_seconds(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1e3


GAUGE: Final = "gauge"
COUNTER: Final = "counter"
OPERATOR, STATISTIC = ("operator",), ("statistic",)

SERIES = (
    # The load, and how the job copes with it
    Series(
        "penstock_input_records_per_second", GAUGE, "records that the outside offers",
        sampled(lambda sample: sample.job_input_rate),
    ),
    Series(
        "penstock_throughput_records_per_second", GAUGE, "records that the job completes, counted as source records",
        sampled(lambda sample: sample.throughput),
    ),
    Series(
        "penstock_backlog_records", GAUGE, "records that wait in the source",
        sampled(lambda sample: sample.backlog),
    ),
    Series(
        "penstock_processing_latency_seconds", GAUGE, "from entering the job to leaving it, in the newest window",
        lambda job: seconds(None if job.sample is None else job.sample.processing_latency_ms), STATISTIC,
    ),
    Series(
        "penstock_event_latency_seconds", GAUGE,
        "from a record's creation to its leaving the job, in the newest window",
        lambda job: seconds(None if job.sample is None else job.sample.event_latency_ms), STATISTIC,
    ),
    Series(
        "penstock_processing_latency_target_seconds", GAUGE, "the target for processing latency",
        one(lambda job: in_seconds(job.loop.slo.processing_latency_ms)),
    ),
    Series(
        "penstock_event_latency_target_seconds", GAUGE, "the target for event latency",
        one(lambda job: in_seconds(job.loop.slo.event_latency_ms)),
    ),
    Series(
        "penstock_measured_seconds_total", COUNTER, "the time that was measured",
        one(lambda job: job.measured_seconds),
    ),
    Series(
        "penstock_violated_seconds_total", COUNTER, "the time in windows that missed a target",
        one(lambda job: job.violated_seconds),
    ),
    Series(
        "penstock_target_violated_seconds_total", COUNTER,
        "the same by target: keep_up, processing_latency, event_latency", each(lambda job: job.missed_seconds),
        ("target",),
    ),
    Series(
        "penstock_warm_up_seconds_total", COUNTER, "the time in which the job was warming up after a change",
        one(lambda job: job.warm_up_seconds),
    ),
    # The plan
    Series(
        "penstock_parallelism", GAUGE, "instances in force", each(lambda job: parallelism(job.in_force)), OPERATOR,
    ),
    Series(
        "penstock_parallelism_wanted", GAUGE, "instances that the policy asks for",
        each(lambda job: parallelism(job.wanted)), OPERATOR,
    ),
    Series(
        "penstock_parallelism_decided", GAUGE, "instances that are left of it after the guards",
        each(lambda job: parallelism(job.decided)), OPERATOR,
    ),
    Series(
        "penstock_utilisation_ratio", GAUGE, "the share of their time that the instances spent on records",
        each(lambda job: job.utilisation()), OPERATOR,
    ),
    Series(
        "penstock_queue_records", GAUGE, "records that wait in front of an operator",
        each(lambda job: job.queues()), OPERATOR,
    ),
    Series(
        "penstock_executors", GAUGE, "executors that take tasks",
        sampled(lambda sample: sample.executors),
    ),
    Series(
        "penstock_executors_wanted", GAUGE, "executors that the policy asks for",
        one(lambda job: executors(job.wanted)),
    ),
    Series(
        "penstock_executors_decided", GAUGE, "executors that are left of it after the guards",
        one(lambda job: executors(job.decided)),
    ),
    Series(
        "penstock_executors_requested", GAUGE, "executors of the plan in force, which the cluster was asked for",
        one(lambda job: executors(job.in_force)),
    ),
    Series(
        "penstock_executors_leaving", GAUGE,
        "executors that were released and are not gone yet, so that they still cost",
        one(lambda job: None if job.cycle is None else job.cycle.leaving),
    ),
    Series(
        "penstock_slots", GAUGE, "slots that the plan in force holds",
        one(lambda job: None if job.in_force is None else job.loop.execution.slots(job.in_force, job.loop.topology)),
    ),
    Series(
        "penstock_slot_seconds_total", COUNTER,
        "slots of the plans in force, times the seconds that they were: nominal, not what executors cost",
        one(lambda job: job.slot_seconds),
    ),
    # Decisions and changes
    Series(
        "penstock_decisions_total", COUNTER, "decisions, holds included, by the code of their reason",
        each(lambda job: dict.fromkeys(map(str, ReasonCode), 0) | job.decisions), ("reason",),
    ),
    Series(
        "penstock_guard_verdicts_total", COUNTER, "decisions that a guard changed",
        each(lambda job: job.vetoes), ("guard",),
    ),
    Series(
        "penstock_changes_total", COUNTER, "changes of plan that were made",
        one(lambda job: job.changes),
    ),
    Series(
        "penstock_changes_failed_total", COUNTER, "changes of plan that could not be made",
        one(lambda job: job.failed_changes),
    ),
    Series(
        "penstock_change_seconds_total", COUNTER, "the time until changes were in force, or had failed",
        one(lambda job: job.change_seconds),
    ),
    Series(
        "penstock_last_change_seconds", GAUGE, "how long the newest cycle took to make its change; 0 without one",
        one(lambda job: None if job.cycle is None else job.cycle.change_seconds or 0.0),
    ),
    # How far the models are off
    Series(
        "penstock_expectation_error_ratio", GAUGE,
        "|expected - measured| / measured of the last decision: throughput, processing_latency, event_latency",
        each(lambda job: job.errors), ("figure",),
    ),
    Series(
        "penstock_forecast_error_records_per_second", GAUGE, "mean absolute error of the forecaster",
        one(lambda job: None if job.loop.forecaster is None else job.loop.forecaster.mean_absolute_error),
    ),
    # The controller itself
    Series(
        "penstock_sample_age_seconds", GAUGE, "since the end of the newest window that counts",
        one(lambda job: job.sample_age()),
    ),
    Series(
        "penstock_controller_up", GAUGE, "1 if the controller runs, does not hang, and its last cycle went well",
        one(lambda job: float(job.controller.healthy)),
    ),
    Series("penstock_cycles_total", COUNTER, "cycles of the loop", one(lambda job: job.cycles)),
    Series(
        "penstock_cycle_failures_total", COUNTER, "cycles that ended in an error",
        one(lambda job: job.controller.failures),
    ),
    Series(
        "penstock_cycle_seconds", GAUGE, "how long the newest cycle took",
        one(lambda job: job.controller.cycle_seconds),
    ),
    Series(
        "penstock_interval_seconds", GAUGE, "from one decision to the next",
        one(lambda job: job.loop.settings.interval_seconds),
    ),
    Series(
        "penstock_mode", GAUGE, "1 for the mode that is set: off, monitor or active",
        each(lambda job: {mode.value: float(mode is job.loop.mode) for mode in Mode}), ("mode",),
    ),
)  # fmt: skip
