"""Table XII of PSPS on Spark: its DNS application in micro-batches, under PSPS and with single replicas."""

from __future__ import annotations

from penstock.model import Execution
from penstock.papers.psps.other_streams import DNS_PSPS, DNS_STORM
from penstock.papers.psps.runs import rows
from penstock.papers.psps.spark.dns import FUNCTIONS, JOBS
from penstock.papers.psps.spark.trials import BATCH, SpoutJob
from penstock.papers.psps.workloads import DNS
from penstock.papers.spark.runner import TrialRunner
from penstock.papers.spark.trial import Run, Trial
from penstock.report.bands import SHARE
from penstock.report.item import Chart, Item, Row, lower
from penstock.report.judging import agrees

(JOB,) = JOBS
FASTER = DNS.trace.seconds / JOB.trace.seconds
MOST = JOB.sized_for(JOB.trace.peak, Execution.SEQUENTIAL, busy=1.0).widest
"""The paper's three of each carry its peak; operators that take turns need as many as all of them together."""
QUERIES = SpoutJob(JOB, FUNCTIONS, timeout=30.0 / FASTER, td=30.0 / FASTER, over_provisioned=MOST)
PAPER = {"PSPS": DNS_PSPS, "r = 1": DNS_STORM}


def trial(name: str) -> Trial:
    return QUERIES.trial(name, grouped=True) if name == "PSPS" else QUERIES.trial(name, "static")


def table_12(runner: TrialRunner) -> Item:
    return item([runner.run(trial(name)) for name in PAPER])


def item(spark: list[Run]) -> Item:
    here = {run.trial.label: QUERIES.metrics(run) for run in spark}
    own, one = here["PSPS"], here["r = 1"]
    return Item.of(
        title="PSPS, Table XII, on Spark",
        setting=f"dns in micro-batches of {BATCH:g} s behind a spout, the restless stream {FASTER:.0f} times as fast; "
        f"psps with its grouping every {QUERIES.td:g} s against one replica of each operator; an event that has waited "
        f"for {QUERIES.timeout:g} s fails at the spout; the operators of a batch take turns on the same slots, so that "
        f"{MOST} of each carry the peak, against which resources are saved. CPU is that of Spark's tasks, most of "
        "which wait. Nothing is simulated beside it",
        rows=(
            *(row for name in PAPER for row in rows(name, PAPER[name], None, here[name])),
            *(Row(f"{run.trial.label}: CPU in use", None, None, "cores", spark=run.cores_in_use) for run in spark),
        ),
        claims={
            "PSPS processes more events than one replica each": (
                own.processed > one.processed,
                f"{own.processed:.3f} against {one.processed:.3f}",
            ),
            "at a lower latency (theirs: by 29.44 %)": lower(own.latency_ms, one.latency_ms),
            "and a lower degradation (theirs: by 17.40 %)": lower(own.degradation, one.degradation),
            "and saves 0.6062 of r_over": agrees(own.saved, DNS_PSPS.saved, SHARE, ".3f"),
        },
        charts=(Chart("Table XII on Spark: throughput", "s", "events/s", tuple(run.throughput for run in spark)),),
    )
