"""Fig. 2 and 3 of Dp-Stream on Spark: WordCount and Top-N under its random rate, with the network's forecast.

The paper's mean latencies of some 2 ms leave no room for an interruption, so changes are handed over. What restarts
would cost, and what else makes a job that is ten times as fast unlike the paper's, is tried in the simulator.

By restarts and at the jobs' usual load, at which a fifth to a third of their default plans is idle, neither claim held
on Spark: with WordCount Dp-Stream took 496 ms, 370 without its prediction and the default plan 472, and with Top-N 386,
293 and 153.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from penstock.model import Plan
from penstock.papers.dp_stream.spark.jobs import JOBS
from penstock.papers.spark import simulated
from penstock.papers.spark.runner import TrialRunner
from penstock.papers.spark.trial import HANDOVER, RESTART, Cycles, Run, Trial
from penstock.performance.latency_mixture import together
from penstock.report.item import Chart, Item, Row, lower
from penstock.report.judging import ours, unless
from penstock.runs.spark_workload import SparkWorkload

STORM, LAST, OWN = "default", "Dp-Stream, last rate", "Dp-Stream"
FASTER = 10
TRAINING, SECONDS = 200.0 / FASTER, 600.0 / FASTER
"""As long as the paper trains, and three quarters of the time that it runs for."""
BUSY = 0.97
"""The part of the time for which the busiest instance of the default plan is at work at the highest rate."""
INTERVAL, OFTEN = 2.0, 0.5
"""From one decision to the next in seconds, and for an experiment in the simulator."""


def start_of(job: SparkWorkload) -> Plan:
    """The default plan just carries the highest rate, as the paper's does."""
    return Plan({name: max(1, -int(-busy // 1)) for name, busy in job.busy(job.trace.peak).items()})


def just_carried(job: SparkWorkload) -> SparkWorkload:
    """The job under the load that its default plan just carries: instances are whole, and at the job's usual load a
    third of Top-N's default plan is idle."""
    plan, busy = start_of(job), job.busy(job.trace.peak)
    room = min(plan[name] / instances for name, instances in busy.items())
    return replace(job, trace=job.trace.scaled(job.trace.peak * room * BUSY))


def trials(job: SparkWorkload) -> list[Trial]:
    """Under the load of the job."""
    policies: dict[str, tuple[str, dict[str, Any]]] = {
        STORM: ("storm_default", {}),
        LAST: ("dp_stream", {"forecaster": "last"}),
        OWN: ("dp_stream", {"training_seconds": TRAINING}),
    }
    return [
        Trial(
            label, job, job.trace, job.slo, start_of(job), policy=policy, policy_options=options, change=HANDOVER,
            interval=f"{INTERVAL:g} s", enough=is_over,
        )
        for label, (policy, options) in policies.items()
    ]  # fmt: skip


def is_over(cycles: Cycles) -> bool:
    return bool(cycles) and cycles[-1].t >= SECONDS


def latency_figure(number: int, job: SparkWorkload, paper: float, paper_storm: float, runner: TrialRunner) -> Item:
    spark = [runner.run(trial) for trial in trials(just_carried(job))]
    return item(number, paper, paper_storm, job, spark)


def item(number: int, paper: float, paper_storm: float, job: SparkWorkload, spark: Sequence[Run]) -> Item:
    printed = {STORM: paper_storm, OWN: paper}
    twin, topology = simulated.twin_of(spark), spark[0].topology

    def tried(load: SparkWorkload, **different: Any) -> dict[str, Run]:
        varied = (replace(trial, **different) for trial in trials(load))
        return {each.label: simulated.simulate(each, topology, twin) for each in varied}

    here, carried = {run.trial.label: run for run in spark}, just_carried(job)
    twins = tried(carried)
    often = tried(carried, interval=f"{OFTEN:g} s", batch_seconds=OFTEN)
    restarted, usual = tried(carried, change=RESTART), tried(job)
    rows = [
        row
        for label, run in here.items()
        for row in (
            Row(f"{label}: mean latency", printed.get(label), _ms(twins[label]), "ms", spark=_ms(run)),
            Row(
                f"{label}: the same after the first {TRAINING:.0f} s", None, _trained_ms(twins[label]), "ms",
                spark=_trained_ms(run),
            ),
            Row(
                f"{label}: mean instances", None, twins[label].result.mean_parallelism, "instances",
                spark=run.result.mean_parallelism,
            ),
            Row(f"{label}: changes", None, twins[label].result.rescales, spark=run.result.rescales),
        )
    ]  # fmt: skip
    experiments = {
        "by restarts": restarted,
        f"a decision every {OFTEN:g} s": often,
        f"at most {job.trace.peak:.0f} records/s": usual,
    }
    rows += [
        Row(f"{label}, {what}: mean latency", None, _ms(runs[label]), "ms")
        for what, runs in experiments.items()
        for label in (STORM, LAST, OWN)
    ]
    cause = ours(
        f"a second of the job is {FASTER} of the paper's, so a decision every {INTERVAL:g} s is one every "
        f"{FASTER * INTERVAL:.0f} of them. In the simulator Dp-Stream takes {_ms(twins[OWN]):.0f} ms, the default plan "
        f"{_ms(twins[STORM]):.0f} and the last rate {_ms(twins[LAST]):.0f}; with a decision every {OFTEN:g} s it is "
        f"{_ms(often[OWN]):.0f}, {_ms(often[STORM]):.0f} and {_ms(often[LAST]):.0f}"
    )
    latency = {label: _ms(run) for label, run in here.items()}
    return Item.of(
        title=f"Dp-Stream, Fig. {number}, on Spark",
        setting=f"{job.name} on the real-time engine, the random walk {FASTER} times as fast, up to "
        f"{carried.trace.peak:.0f} records/s, which the default plan just carries, for {SECONDS:.0f} s; a decision "
        f"every {INTERVAL:g} s; Dp-Stream begins with the default plan and trains its network on the first "
        f"{TRAINING:.0f} s. Changes are handed over, which interrupts nothing, as the paper's 2 ms leave no room for "
        f"an interruption. Latency is from a record's creation to its end; {simulated.SETTING}. There it is also tried "
        f"by restarts, of which each takes a second, {FASTER} of the paper's, with more decisions, and at the job's "
        "usual load, at which its default plan has instances to spare",
        rows=rows,
        claims={
            "Dp-Stream's latency is lower than the default plan's": unless(lower(latency[OWN], latency[STORM]), cause),
            "and lower than without its prediction": unless(lower(latency[OWN], latency[LAST]), cause),
        },
        charts=(
            Chart(
                f"Fig. {number} on Spark",
                "s",
                "ms",
                tuple(
                    run.line(lambda s: None if s.event_latency_ms is None else s.event_latency_ms.mean) for run in spark
                ),
            ),
        ),
    )


def _ms(run: Run) -> float:
    return run.result.event_latency_ms.mean or 0.0


def _trained_ms(run: Run) -> float:
    """The latency from when the network is trained on, and the job has been running for a while."""
    windows = [
        ((sample.throughput or 0.0) * sample.seconds, sample.event_latency_ms)
        for sample in run.samples
        if sample.t >= TRAINING and sample.event_latency_ms is not None
    ]
    return together(windows).mean or 0.0


WORD_COUNT, TOP_N = JOBS
EXPERIMENTS = {
    "fig2": partial(latency_figure, 2, WORD_COUNT, 2.27, 4.66),
    "fig3": partial(latency_figure, 3, TOP_N, 2.40, 4.84),
}
