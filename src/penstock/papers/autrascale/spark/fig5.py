"""Fig. 5 of AuTraScale on Spark: throughput optimisation of WordCount from all ones."""

from __future__ import annotations

from statistics import median

from penstock.load.curves import constant
from penstock.model import Slo
from penstock.papers.autrascale.fig5 import PAPER_PLANS
from penstock.papers.autrascale.spark.wordcount import JOBS, RATE
from penstock.papers.spark import simulated
from penstock.papers.spark.runner import TrialRunner
from penstock.papers.spark.trial import KEEP_UP, Cycles, Run, Trial, keeps_up, plan_of
from penstock.performance.bayesian.search_space import Configuration
from penstock.report.item import Chart, Item, Row

(JOB,) = JOBS
SECONDS = 60.0
OPTIONS = {"ds2": {}, "autrascale": {"keep_up_tolerance": KEEP_UP}}
PAPER = PAPER_PLANS["wordcount"]


def trial(policy: str) -> Trial:
    """Without a latency target AuTraScale holds where throughput optimisation ends, and so does DS2."""
    ones = plan_of(JOB, (1, 1, 1, 1))
    load = constant(RATE, SECONDS)
    return Trial(
        policy, JOB, load, Slo(), ones, policy=policy, policy_options=OPTIONS[policy], enough=has_arrived
    )  # fmt: skip


def has_arrived(cycles: Cycles) -> bool:
    """Two windows in a row keep up, and nothing else is asked for."""
    last = cycles[-2:]
    return len(last) == 2 and all(keeps_up(cycle) and not cycle.changed for cycle in last)


def fig_5(runner: TrialRunner) -> Item:
    spark = [runner.run(trial(policy)) for policy in OPTIONS]
    return item(spark, simulated.simulated(spark))


def item(spark: list[Run], twins: list[Run]) -> Item:
    rows = []
    for run, same in zip(spark, twins, strict=True):
        policy = run.trial.label
        theirs = policy == "autrascale"
        rows += [
            Row(f"{policy}: plan", str(PAPER) if theirs else None, str(same.plans[-1]), spark=str(run.plans[-1])),
            Row(f"{policy}: plans run", "at most 4" if theirs else None, len(same.plans), spark=len(run.plans)),
            Row(f"{policy}: throughput", None, carried(same), "records/s", spark=carried(run)),
        ]
    ds2, own = spark
    return Item.of(
        title="AuTraScale, Fig. 5, on Spark",
        setting=f"wordcount at {RATE:.0f} records/s (350,000 in the paper) on the real-time engine, from all ones, "
        f"without a latency target; service times 3, 4, 11 and 9 ms, windows of 2 s; {simulated.SETTING}",
        rows=tuple(rows),
        claims={
            "throughput optimisation ends after at most 4 plans": (
                len(own.plans) <= 4,
                " -> ".join(map(str, own.plans)),
            ),
            "it ends at a plan that keeps up with the input": (
                has_arrived(own.cycles),
                f"{carried(own):,.0f} of {RATE:,.0f} records/s",
            ),
            "its plan has the shape of the paper's: count most, then sink, flat map and source": (
                is_ordered(own.plans[-1]),
                f"{own.plans[-1]} against {PAPER}",
            ),
            "throughput is above the input for a while: the backlog is worked off too": (
                max(sample.throughput or 0.0 for sample in own.samples) > 1.05 * RATE,
                f"up to {max(sample.throughput or 0.0 for sample in own.samples):,.0f} records/s",
            ),
            "where nothing caps the job, DS2 reaches the input in as few plans": (
                has_arrived(ds2.cycles) and len(ds2.plans) <= 4,
                " -> ".join(map(str, ds2.plans)),
            ),
            "with the parents' outputs rounded up, AuTraScale asks for no fewer instances than DS2": (
                sum(own.plans[-1]) >= sum(ds2.plans[-1]),
                f"{sum(own.plans[-1])} against {sum(ds2.plans[-1])}",
            ),
        },
        charts=(Chart("Fig. 5 on Spark", "s", "records/s", tuple(run.throughput for run in spark)),),
    )


def is_ordered(plan: Configuration) -> bool:
    source, flat_map, count, sink = plan
    return count >= sink >= flat_map >= source and count > source


def carried(run: Run) -> float:
    """The throughput of the last plan, over its windows."""
    last = [s.throughput or 0.0 for s in run.settled]
    return median(last) if last else 0.0
