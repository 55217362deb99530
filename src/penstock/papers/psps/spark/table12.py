"""Table XII of PSPS on Spark: its DNS application in micro-batches, under PSPS and with single replicas."""

from __future__ import annotations

from penstock.model import Execution
from penstock.papers.psps.other_streams import DNS_PSPS, DNS_STORM
from penstock.papers.psps.runs import Metrics, degradation, rows
from penstock.papers.psps.spark.dns import JOBS
from penstock.papers.psps.spark.table8 import BATCH, after_a_calm
from penstock.papers.psps.workloads import DNS
from penstock.papers.spark import simulated
from penstock.papers.spark.runner import TrialRunner
from penstock.papers.spark.trial import Run, Trial
from penstock.report.item import Chart, Item, lower
from penstock.runs.spark_workload import SHARE_OF_WORK

(JOB,) = JOBS
TD = 30.0 / (DNS.trace.seconds / JOB.trace.seconds)
EXECUTION_MS = dict.fromkeys(JOB.service_ms, sum(JOB.service_ms.values()) / SHARE_OF_WORK)
"""Known from a benchmark, as in the paper. Operators that run sequentially take the time of all."""
OVER_PROVISIONED = 3
TRIALS = {
    "PSPS": ("psps", {"window_seconds": TD, "execution_ms": EXECUTION_MS}),
    "r = 1": ("static", {}),
}
PAPER = {"PSPS": DNS_PSPS, "r = 1": DNS_STORM}
STREAM = after_a_calm(JOB.trace, 15.0)


def trial(name: str) -> Trial:
    policy, options = TRIALS[name]
    return Trial(
        name, JOB, STREAM, JOB.slo, JOB.start, policy=policy, policy_options=options,
        execution=Execution.SEQUENTIAL, interval=f"{TD:g} s", batch_seconds=BATCH,
    )  # fmt: skip


def metrics(run: Run) -> Metrics:
    """The paper's metrics. Latency is the event latency, since no event of the paper waits outside of Storm."""
    result = run.result
    return Metrics(
        saved=1.0 - result.mean_parallelism / (len(JOB.service_ms) * OVER_PROVISIONED),
        degradation=degradation([cycle for cycle in run.cycles if cycle.samples]),
        processed=result.processed_ratio,
        latency_ms=result.event_latency_ms.mean or 0.0,
    )


def table_12(runner: TrialRunner) -> Item:
    spark = [runner.run(trial(name)) for name in TRIALS]
    return item(spark, simulated.simulated(spark))


def item(spark: list[Run], twins: list[Run]) -> Item:
    here = {run.trial.label: metrics(run) for run in spark}
    twin = {run.trial.label: metrics(run) for run in twins}
    own, one = here.values()
    return Item.of(
        title="PSPS, Table XII, on Spark",
        setting=f"dns in micro-batches of {BATCH:g} s, the restless stream ten times as fast; psps every {TD:g} s "
        "against one replica of each operator; the operators of a batch take turns on the same slots, and nothing "
        f"times out, is dropped or is grouped: what one replica cannot do waits; {simulated.SETTING}",
        rows=(row for name in TRIALS for row in rows(name, PAPER[name], twin[name], here[name])),
        claims={
            "PSPS processes more events than one replica each": (
                own.processed > one.processed,
                f"{own.processed:.3f} against {one.processed:.3f}",
            ),
            "at a lower latency (theirs: by 29.44 %)": lower(own.latency_ms, one.latency_ms),
            "and a lower degradation (theirs: by 17.40 %)": lower(own.degradation, one.degradation),
        },
        charts=(Chart("Table XII on Spark: throughput", "s", "events/s", tuple(run.throughput for run in spark)),),
    )
