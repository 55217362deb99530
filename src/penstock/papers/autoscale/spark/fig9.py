"""Fig. 9 of AUTOSCALE on Spark: the line under the 3-step stream, with fixed degrees and with AUTOSCALE."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from penstock.papers.autoscale.runs import claimed, less
from penstock.papers.autoscale.spark.linear import COMPRESSED, FASTER, JOBS
from penstock.papers.catalogue import workload
from penstock.papers.spark import simulated
from penstock.papers.spark.runner import TrialRunner
from penstock.papers.spark.trial import Run, Trial, plan_of
from penstock.report.bands import SHARE
from penstock.report.item import Chart, Item, Row
from penstock.report.judging import agrees

(JOB,) = JOBS
MINIMAL, EXPERT = (1, 1, 1), (1, 1, 8)
WINDOW = 6.0
OPTIONS = {"window_seconds": WINDOW}
"""A change takes seconds, whatever the scale of time: a window is 6 s here, not a twentieth of a minute."""
TRIALS = {
    "Storm, minimal": ("storm_default", MINIMAL, {}),
    "AUTOSCALE": ("autoscale", MINIMAL, OPTIONS),
    "Storm, expert": ("storm_default", EXPERT, {}),
}
LOW_AGAIN = 400.0 / COMPRESSED
TIMEOUT = 30.0 / COMPRESSED
"""Storm's time-out on this scale of time: an item that is older would have been sent again."""


@dataclass(frozen=True)
class SchedulerOnSpark:
    """What one scheduler did with the whole stream. Cores and memory are what its instances claim, averaged over time.

    `processed` is the share of all items that no longer waits; `tolerable` is how many items come within the time-out.
    """

    processed: float
    waiting: float
    tolerable: float
    cores: float
    memory_mb: float
    most: int
    last: int

    @property
    def congested(self) -> bool:
        """Whether more items wait at the end than come within Storm's time-out."""
        return self.waiting > self.tolerable


def trial(name: str) -> Trial:
    policy, start, options = TRIALS[name]
    return Trial(name, JOB, JOB.trace, JOB.slo, plan_of(JOB, start), policy=policy, policy_options=options)


def seen(run: Run, slow: str = "sink") -> SchedulerOnSpark:
    """What became of a run; `slow` is the operator whose degree counts."""
    samples, claims = run.samples, workload(run.trial.job.name).job.topology
    waiting = samples[-1].backlog or 0.0
    return SchedulerOnSpark(
        processed=1.0 - waiting / sum(sample.offered_rate * sample.seconds for sample in samples),
        waiting=waiting,
        tolerable=TIMEOUT * samples[-1].offered_rate,
        cores=claimed(samples, claims, "cpu_cores"),
        memory_mb=claimed(samples, claims, "memory_mb"),
        most=max(sample.operators[slow].parallelism for sample in samples),
        last=run.cycles[-1].decision.plan[slow],
    )


def fig_9(runner: TrialRunner) -> Item:
    spark = [runner.run(trial(name)) for name in TRIALS]
    return item(spark, simulated.simulated(spark))


def item(spark: list[Run], twins: list[Run]) -> Item:
    here = {run.trial.label: seen(run) for run in spark}
    twin = {run.trial.label: seen(run) for run in twins}
    minimal, own, expert = here.values()
    rows = []
    for name in TRIALS:
        words = "congested" if name == "Storm, minimal" else "keeps up"
        rows += [
            Row(name, words, state(twin[name]), spark=state(here[name])),
            Row(f"{name}: processed", None, 100 * twin[name].processed, "%", spark=100 * here[name].processed),
            Row(f"{name}: items waiting at the end", None, twin[name].waiting, spark=here[name].waiting),
            Row(f"{name}: degree of the sink, highest", None, twin[name].most, spark=here[name].most),
        ]
    saved, saved_there = _saved(here), _saved(twin)
    rows += [
        Row(f"less {what} than expert degrees", 37.5, saved_there[what], "%", spark=percent)
        for what, percent in saved.items()
    ]
    degrees = tuple(run.line(lambda sample: float(sample.operators["sink"].parallelism)) for run in spark)
    return Item.of(
        title="AUTOSCALE, Fig. 9, on Spark",
        setting=f"linear with the 3-step stream on the real-time engine: {FASTER:.0f} times the rates, 1/{FASTER:.0f} "
        f"of the service times, {COMPRESSED:.0f} times as fast; windows of {WINDOW:.0f} s, since a change takes "
        "seconds on any scale; storm_default keeps minimal or expert degrees, autoscale begins with minimal ones. "
        "Spark replays nothing: congested means that at the end, when the load has long been low again, more items "
        f"wait than come within Storm's time-out on this scale, {TIMEOUT:g} s; {simulated.SETTING}",
        rows=tuple(rows),
        claims={
            "with minimal degrees the job congests, and does not recover when the load has fallen again": (
                minimal.congested,
                f"{minimal.processed:.0%} processed, {minimal.waiting:,.0f} items wait",
            ),
            "AUTOSCALE grows with the load and has worked off what came to wait meanwhile": (
                not own.congested and own.processed > 0.95 and own.most > 4,
                f"{own.processed:.0%} processed, {own.waiting:,.0f} items wait at the end; {own.most} sinks at most",
            ),
            "it shrinks again with the load": (
                own.last < own.most,
                f"from {own.most} to {own.last} sinks; the load is low again for the last {LOW_AGAIN:.0f} s, and "
                "what has come to wait goes first",
            ),
            "against expert degrees it takes less CPU and memory (how much follows from how long the steps last)": (
                min(saved.values()) > 0.0,
                f"{saved['CPU']:.1f} % and {saved['memory']:.1f} %",
            ),
            "and processes as many items as expert degrees do": agrees(own.processed, expert.processed, SHARE, ".3f"),
        },
        charts=(
            Chart("Fig. 9 on Spark: degree of the sink", "s", "instances", degrees),
            Chart("Fig. 9 on Spark: throughput", "s", "items/s", tuple(run.throughput for run in spark)),
        ),
    )


def _saved(found: Mapping[str, SchedulerOnSpark]) -> dict[str, float]:
    own, expert = found["AUTOSCALE"], found["Storm, expert"]
    return {"CPU": less(own.cores, expert.cores), "memory": less(own.memory_mb, expert.memory_mb)}


def state(scheduler: SchedulerOnSpark) -> str:
    return "congested" if scheduler.congested else "keeps up"
