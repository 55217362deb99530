"""Table VII of PSPS on Spark: its own grouping against Spark's even one, both under PSPS, with a time-out."""

from __future__ import annotations

from penstock.papers.psps.parameters import SHUFFLE
from penstock.papers.psps.runs import PSPS, rows
from penstock.papers.psps.spark.trials import BATCH, SpoutJob
from penstock.papers.psps.spark.twitter import COMPRESSED, FUNCTIONS, JOBS, OVER_PROVISIONED, PEAK
from penstock.papers.spark.runner import TrialRunner
from penstock.papers.spark.trial import Run, Trial
from penstock.report.item import Chart, Item, Row, lower
from penstock.report.judging import theirs, unless

(JOB,) = JOBS
TWITTER = SpoutJob(JOB, FUNCTIONS, timeout=30.0 / COMPRESSED, td=30.0 / COMPRESSED, over_provisioned=OVER_PROVISIONED)
SPREAD, OWN = "shuffle", "load balancing"
PAPER = {SPREAD: SHUFFLE, OWN: PSPS}


def trial(name: str) -> Trial:
    return TWITTER.trial(name, grouped=name == OWN)


def table_7(runner: TrialRunner) -> Item:
    return item([runner.run(trial(name)) for name in PAPER])


def item(spark: list[Run]) -> Item:
    here = {run.trial.label: TWITTER.metrics(run) for run in spark}
    own, even = here[OWN], here[SPREAD]
    busiest = next(TWITTER.busiest(run) for run in spark if run.trial.label == OWN)
    uneven = theirs(
        "Algorithm 1 adds to what a replica processed in the last interval, so one that joins is sent every event "
        f"until it has had as many as the others: {busiest:.1f} times an even share in one interval here, and a batch "
        "lasts as long as its slowest replica. In the simulator it is the same"
    )
    return Item.of(
        title="PSPS, Table VII, on Spark",
        setting=f"twitter in micro-batches of {BATCH:g} s behind a spout, the first of three surges, up to "
        f"{PEAK:.0f} events/s, {COMPRESSED:.0f} times as fast; psps every {TWITTER.td:g} s; an event that has waited "
        f"for {TWITTER.timeout:g} s fails at the spout, as in micro-batches nothing waits behind it; load balancing "
        "divides the records of an interval as Algorithm 1 would; a queue never comes to the paper's 100,000 events. "
        "CPU is that of Spark's tasks, most of which wait. Nothing is simulated beside it",
        rows=(
            *(row for name in PAPER for row in rows(name, PAPER[name], None, here[name])),
            Row(f"{OWN}: most events of one replica, over an even share", None, None, spark=busiest),
            *(Row(f"{run.trial.label}: CPU in use", None, None, "cores", spark=run.cores_in_use) for run in spark),
        ),
        claims={
            "load balancing lowers latency (theirs: by 60.18 %)": unless(
                lower(own.latency_ms, even.latency_ms), uneven
            ),
            "and throughput degradation (theirs: by 57.73 %)": unless(lower(own.degradation, even.degradation), uneven),
            "and saves more resources (theirs: 4.04 %)": unless(
                (own.saved > even.saved, f"{own.saved:.3f} against {even.saved:.3f}"), uneven
            ),
        },
        charts=(Chart("Table VII on Spark: throughput", "s", "events/s", tuple(run.throughput for run in spark)),),
    )
