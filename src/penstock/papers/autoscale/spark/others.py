"""Fig. 10 and Fig. 12 (a) of AUTOSCALE on Spark: the line under sudden peaks, and the advertising job.

The paper shows the advertising job under the 3-step stream only; here it runs under the sudden peaks too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from penstock.papers.autoscale.runs import less
from penstock.papers.autoscale.spark import graphs, linear
from penstock.papers.autoscale.spark.fig9 import OPTIONS, SchedulerOnSpark, seen, state
from penstock.papers.autoscale.workloads import HIGH, LINEAR_PEAKS, VERY_HIGH
from penstock.papers.spark import simulated
from penstock.papers.spark.runner import TrialRunner
from penstock.papers.spark.trial import Run, Trial
from penstock.report.bands import SHARE
from penstock.report.item import Chart, Item, Row
from penstock.report.judging import agrees
from penstock.runs.spark_workload import SparkWorkload, under_load

PEAKS = under_load(LINEAR_PEAKS, linear.JOBS[0], 90.0)
ADVERTISING = next(job for job in graphs.JOBS if job.name == "advertising")
ADVERTISING_PEAKS = replace(ADVERTISING, trace=PEAKS.trace.scaled(ADVERTISING.trace.peak * VERY_HIGH / HIGH))
"""The sudden peak is as much higher than the highest rate of the 3-step stream as for the line."""
SLOW = "ip_processor"
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


def fig_12_peaks(runner: TrialRunner) -> Item:
    spark = [runner.run(trial) for trial in trials(ADVERTISING_PEAKS)]
    return advertising_peaks_item(spark, simulated.simulated(spark))


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
    (storm, own), rows = _compared(spark, twins, SLOW)
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
        charts=_charts("Fig. 12 on Spark", spark, SLOW),
    )


def advertising_peaks_item(spark: Sequence[Run], twins: Sequence[Run]) -> Item:
    (storm, own), rows = _compared(spark, twins, SLOW)
    there, here = (run.result.event_latency_ms.mean for run in spark)
    return Item.of(
        title="AUTOSCALE, advertising under sudden peaks, on Spark",
        setting=f"advertising on the real-time engine, the 5-step stream in 90 s, up to "
        f"{ADVERTISING_PEAKS.trace.peak:.0f} items/s, {VERY_HIGH / HIGH:.2f} times the peak of its 3-step stream; "
        "storm_default keeps minimal degrees, autoscale begins with them, windows of "
        f"{OPTIONS['window_seconds']:.0f} s; the paper has no figure of it; Spark replays nothing, so that the "
        f"fall restores a job that was congested; {simulated.SETTING}",
        rows=(
            *rows,
            *(
                Row(f"{run.trial.label}: event latency", None, twin.result.event_latency_ms.mean, "ms", spark=latency)
                for run, twin, latency in zip(spark, twins, (there, here), strict=True)
            ),
        ),
        claims={
            "AUTOSCALE grows at the peak and shrinks after it": (
                own.most > own.last,
                f"{own.most} processors of addresses at most, {own.last} at the end",
            ),
            "so that items wait for less long than with minimal degrees": (
                None if there is None or here is None else here < there,
                "latency was not measured" if there is None or here is None else f"{here:,.0f} against {there:,.0f} ms",
            ),
            "and as many are processed": agrees(own.processed, storm.processed, SHARE, ".3f"),
        },
        charts=_charts("Advertising under sudden peaks on Spark", spark, SLOW),
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
