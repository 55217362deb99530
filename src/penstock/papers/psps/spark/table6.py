"""Table VI of PSPS on Spark: queues of 100 and of 100,000 events in front of each replica, under PSPS."""

from __future__ import annotations

from penstock.papers.psps.parameters import TABLE_6
from penstock.papers.psps.runs import rows
from penstock.papers.psps.spark.table7 import TWITTER
from penstock.papers.psps.spark.trials import BATCH
from penstock.papers.psps.spark.twitter import COMPRESSED, PEAK
from penstock.papers.spark.runner import TrialRunner
from penstock.papers.spark.trial import Run, Trial
from penstock.report.item import Chart, Item, Row, lower

SIZES = (100, 100_000)


def label(size: int) -> str:
    return f"q_size = {size:,}"


def trial(size: int) -> Trial:
    return TWITTER.trial(label(size), grouped=True, queue=size)


def table_6(runner: TrialRunner) -> Item:
    return item([runner.run(trial(size)) for size in SIZES])


def item(spark: list[Run]) -> Item:
    here = {run.trial.label: TWITTER.metrics(run) for run in spark}
    small, large = (here[label(size)] for size in SIZES)
    return Item.of(
        title="PSPS, Table VI, on Spark",
        setting=f"twitter in micro-batches of {BATCH:g} s behind a spout, the first of three surges, up to "
        f"{PEAK:.0f} events/s, {COMPRESSED:.0f} times as fast; psps with its grouping every {TWITTER.td:g} s; what a "
        "batch finds is the queue: as many events as q_size for each replica of the first operator, and the spout "
        f"drops the rest; an event that has waited for {TWITTER.timeout:g} s fails there too. CPU is that of Spark's "
        "tasks, most of which wait. Nothing is simulated beside it",
        rows=(
            *(row for size in SIZES for row in rows(label(size), TABLE_6[size], None, here[label(size)])),
            *(Row(f"{run.trial.label}: CPU in use", None, None, "cores", spark=run.cores_in_use) for run in spark),
        ),
        claims={
            "the larger the queue, the more events are processed": (
                large.processed > small.processed,
                f"{small.processed:.4f} and {large.processed:.4f}",
            ),
            "the smaller the queue, the more resources are saved": (
                small.saved > large.saved,
                f"{small.saved:.4f} and {large.saved:.4f}",
            ),
            "a queue of 100 lowers latency (theirs: by 98.57 %)": lower(small.latency_ms, large.latency_ms),
        },
        charts=(Chart("Table VI on Spark: throughput", "s", "events/s", tuple(run.throughput for run in spark)),),
    )
