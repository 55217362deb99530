"""Fig. 10 and Fig. 12 (a) of AUTOSCALE on Spark: the line under sudden peaks, and the advertising job."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.papers.autoscale.runs import less
from penstock.papers.autoscale.spark import graphs, linear
from penstock.papers.autoscale.spark.fig9 import OPTIONS, SchedulerOnSpark, seen, state
from penstock.papers.autoscale.workloads import LINEAR_PEAKS
from penstock.papers.spark import simulated
from penstock.papers.spark.runner import TrialRunner
from penstock.papers.spark.trial import Run, Trial
from penstock.report.bands import SHARE
from penstock.report.item import Chart, Item, Row
from penstock.report.judging import agrees
from penstock.runs.spark_workload import SparkWorkload, under_load

PEAKS = under_load(LINEAR_PEAKS, linear.JOBS[0], 90.0)
ADVERTISING = next(job for job in graphs.JOBS if job.name == "advertising")
STORM, OWN = "Storm, minimal", "AUTOSCALE"


def trials(job: SparkWorkload) -> list[Trial]:
    """Storm's default scheduler and AUTOSCALE, both from minimal degrees."""
    return [
        Trial(STORM, job, job.trace, job.slo, job.start, policy="storm_default"),
        Trial(OWN, job, job.trace, job.slo, job.start, policy="autoscale", policy_options=OPTIONS),
    ]


def fig_10(runner: TrialRunner) -> Item:
    spark = [runner.run(trial) for trial in trials(PEAKS)]
    return peaks_item(spark, simulated.simulated(spark))


def fig_12(runner: TrialRunner) -> Item:
    spark = [runner.run(trial) for trial in trials(ADVERTISING)]
    return advertising_item(spark, simulated.simulated(spark))


def peaks_item(spark: Sequence[Run], twins: Sequence[Run]) -> Item:
    (storm, own), rows = _compared(spark, twins, "sink")
    return Item.of(
        title="AUTOSCALE, Fig. 10, on Spark",
        setting="linear_peaks on the real-time engine, 5 steps in 90 s; storm_default keeps minimal degrees, "
        f"autoscale begins with them, windows of {OPTIONS['window_seconds']:.0f} s; Spark replays nothing, so that "
        f"what waits waits; {simulated.SETTING}",
        rows=rows,
        claims={
            "with minimal degrees the job congests at the sudden rise, and the fall does not restore it": (
                storm.congested,
                f"{storm.processed:.0%} processed, {storm.waiting:,.0f} items wait",
            ),
            "AUTOSCALE grows at the peak and shrinks after it": (
                own.most > own.last,
                f"{own.most} sinks at most, {own.last} at the end",
            ),
            "it processes more than minimal degrees do": (
                own.processed > storm.processed,
                f"{own.processed:.0%} against {storm.processed:.0%}; {own.waiting:,.0f} items wait at the end",
            ),
        },
        charts=_charts("Fig. 10 on Spark", spark, "sink"),
    )


def advertising_item(spark: Sequence[Run], twins: Sequence[Run]) -> Item:
    (storm, own), rows = _compared(spark, twins, "ip_processor")
    return Item.of(
        title="AUTOSCALE, Fig. 12 (a), on Spark",
        setting="advertising on the real-time engine, the 3-step stream in 90 s; storm_default keeps minimal degrees, "
        f"autoscale begins with them, windows of {OPTIONS['window_seconds']:.0f} s; {simulated.SETTING}",
        rows=(*rows, Row("more CPU than minimal degrees", 12.0, None, "%", spark=-less(own.cores, storm.cores))),
        claims={
            "minimal degrees do not congest": (not storm.congested, f"{storm.processed:.1%} processed"),
            "AUTOSCALE's throughput is similar": agrees(own.processed, storm.processed, SHARE, ".3f"),
            "though it scales out": (own.most > 1, f"to {own.most} instances of the processor of addresses"),
        },
        charts=_charts("Fig. 12 on Spark", spark, "ip_processor"),
    )


def _compared(spark: Sequence[Run], twins: Sequence[Run], slow: str) -> tuple[list[SchedulerOnSpark], tuple[Row, ...]]:
    rows = []
    for run, twin in zip(spark, twins, strict=True):
        here, there, name = seen(run, slow), seen(twin, slow), run.trial.label
        rows += [
            Row(name, None, state(there), spark=state(here)),
            Row(f"{name}: processed", None, 100 * there.processed, "%", spark=100 * here.processed),
            Row(f"{name}: items waiting at the end", None, there.waiting, spark=here.waiting),
            Row(f"{name}: highest degree of {slow}", None, there.most, spark=here.most),
            Row(f"{name}: CPU claimed", None, there.cores, "cores", spark=here.cores),
        ]
    return [seen(run, slow) for run in spark], tuple(rows)


def _charts(figure: str, spark: Sequence[Run], slow: str) -> tuple[Chart, ...]:
    degrees = tuple(run.line(lambda sample: float(sample.operators[slow].parallelism)) for run in spark)
    return (
        Chart(f"{figure}: degree of {slow}", "s", "instances", degrees),
        Chart(f"{figure}: throughput", "s", "items/s", tuple(run.throughput for run in spark)),
    )
