"""Fig. 2 and 3 of Dp-Stream on Spark: WordCount and Top-N under its random rate, with the network's forecast."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from penstock.model import Plan
from penstock.papers.dp_stream.spark.jobs import JOBS
from penstock.papers.spark import simulated
from penstock.papers.spark.runner import TrialRunner
from penstock.papers.spark.trial import Run, Trial
from penstock.report.item import Chart, Item, Row, lower
from penstock.runs.spark_workload import SparkWorkload

STORM, LAST, OWN = "default", "Dp-Stream, last rate", "Dp-Stream"
TRAINING = 20.0
"""A tenth of the paper's 200 s, as the stream is ten times as fast."""


def start_of(job: SparkWorkload) -> Plan:
    """The default plan just carries the highest rate, as the paper's does."""
    return Plan({name: max(1, -int(-busy // 1)) for name, busy in job.busy(job.trace.peak).items()})


def trials(job: SparkWorkload) -> list[Trial]:
    usual = {"training_seconds": TRAINING}
    policies: dict[str, tuple[str, dict[str, Any]]] = {
        STORM: ("storm_default", {}),
        LAST: ("dp_stream", {"forecaster": "last"}),
        OWN: ("dp_stream", usual),
    }
    return [
        Trial(label, job, job.trace, job.slo, start_of(job), policy=policy, policy_options=options)
        for label, (policy, options) in policies.items()
    ]


def latency_figure(number: int, job: SparkWorkload, paper: float, paper_storm: float, runner: TrialRunner) -> Item:
    spark = [runner.run(trial) for trial in trials(job)]
    return item(number, paper, paper_storm, spark, simulated.simulated(spark))


def item(number: int, paper: float, paper_storm: float, spark: Sequence[Run], twins: Sequence[Run]) -> Item:
    printed = {STORM: paper_storm, OWN: paper}
    here, there = ({run.trial.label: run.result for run in runs} for runs in (spark, twins))
    latency = {label: result.event_latency_ms.mean or 0.0 for label, result in here.items()}
    rows = [
        row
        for label in here
        for row in (
            Row(
                f"{label}: mean latency", printed.get(label), there[label].event_latency_ms.mean, "ms",
                spark=latency[label],
            ),
            Row(
                f"{label}: mean instances", None, there[label].mean_parallelism, "instances",
                spark=here[label].mean_parallelism,
            ),
        )
    ]  # fmt: skip
    return Item.of(
        title=f"Dp-Stream, Fig. {number}, on Spark",
        setting=f"{spark[0].trial.job.name} on the real-time engine, the random walk ten times as fast, a decision "
        "every 2 s; the default plan just carries the highest rate; Dp-Stream begins with it, trains its network on "
        f"the first {TRAINING:.0f} s, and changes by restarts. Latency is from a record's creation to its end; "
        f"{simulated.SETTING}",
        rows=rows,
        claims={
            "Dp-Stream's latency is lower than the default plan's": lower(latency[OWN], latency[STORM]),
            "and lower than without its prediction": lower(latency[OWN], latency[LAST]),
        },
        charts=(
            Chart(
                f"Fig. {number} on Spark",
                "s",
                "ms",
                tuple(
                    run.line(lambda s: 0.0 if s.event_latency_ms is None else s.event_latency_ms.mean or 0.0)
                    for run in spark
                ),
            ),
        ),
    )


WORD_COUNT, TOP_N = JOBS
EXPERIMENTS = {
    "fig2": partial(latency_figure, 2, WORD_COUNT, 2.27, 4.66),
    "fig3": partial(latency_figure, 3, TOP_N, 2.40, 4.84),
}
