"""Fig. 5 of AuTraScale on Spark, Yahoo: throughput optimisation of a job that its store caps, and the look-back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from pyspark.sql import DataFrame

from penstock.guards import only
from penstock.load.curves import constant
from penstock.model import Slo
from penstock.papers.autrascale.fig5 import PAPER_PLANS
from penstock.papers.autrascale.spark.fig5 import carried
from penstock.papers.autrascale.spark.store import asking
from penstock.papers.autrascale.spark.yahoo import JOBS, VIEWS, increments, pipeline
from penstock.papers.autrascale.workloads.yahoo import STORE_RATE
from penstock.papers.spark.runner import TrialRunner
from penstock.papers.spark.trial import KEEP_UP, Cycles, Run, Trial
from penstock.performance.bayesian.search_space import Configuration
from penstock.report.bands import THROUGHPUT
from penstock.report.item import Chart, Item, Row
from penstock.report.judging import Judged, Verdict, agrees, cannot_be_judged

SERVICE_MS = {"source": 4, "parse": 3, "filter": 2, "project": 4, "join": 36}
"""Equation 3 gives an operator as many instances as its parents can send to. With these times, in which each operator
but the last is somewhat faster than the one before, that is one of each and nine joins, of the twelve that there may
be. In the paper it is 34 of 40."""
RATE = 190.0
CAP = RATE * STORE_RATE / 60e3
"""Records a second that the store lets through: as far below the rate as the paper's store, with 60,000 records/s."""


def stored(frame: DataFrame) -> DataFrame:
    return asking("yahoo_walk", VIEWS * CAP)(increments(frame))


JOB = replace(
    next(job for job in JOBS if job.name == "yahoo"),
    pipeline=partial(pipeline, "yahoo", stored, service_ms=SERVICE_MS),
    service_ms=SERVICE_MS,
)
SECONDS, RUNNING_TIME, NOISE = 80.0, 4.0, 0.1
PAUSE = 10.0
"""DS2 remembers nothing: it is asked again when a plan has had time to show what it does."""
OPTIONS: Mapping[str, Mapping[str, float]] = {
    "ds2": {},
    "autrascale": {
        "keep_up_tolerance": KEEP_UP, "policy_running_time": RUNNING_TIME, "throughput_noise": NOISE,
    },
}  # fmt: skip


def trial(policy: str) -> Trial:
    return Trial(
        policy, JOB, constant(RATE, SECONDS), Slo(), JOB.start, policy=policy, policy_options=OPTIONS[policy],
        enough=has_ended if policy == "autrascale" else lambda cycles: False,
        guards=only(stabilisation={"seconds": PAUSE}) if policy == "ds2" else only(),
    )  # fmt: skip


def has_ended(cycles: Cycles) -> bool:
    """Whether throughput optimisation has ended, and its plan was measured since."""
    last = cycles[-3:]
    return len(last) == 3 and all(is_steady(cycle.decision.figures) and not cycle.changed for cycle in last)


def is_steady(figures: Mapping[str, object]) -> bool:
    return figures.get("phase") == "steady"


def yahoo(runner: TrialRunner) -> Item:
    return item([runner.run(trial(policy)) for policy in OPTIONS])


def item(spark: list[Run]) -> Item:
    ds2, own = spark
    tried = steps(own)
    rows = [
        Row("autrascale: plan", str(PAPER_PLANS["yahoo"]), None, spark=str(own.plans[-1])),
        Row("autrascale: plans run", "at most 4", None, spark=len(own.plans)),
        Row("autrascale: throughput of its plan", None, None, "records/s", spark=carried(own)),
        *(Row(f"autrascale tried {plan}", None, None, "records/s", spark=done) for plan, done in tried.items()),
        Row("ds2: plans run", None, None, spark=len(ds2.plans)),
        Row("ds2: last plan", None, None, spark=str(ds2.plans[-1])),
        Row("ds2: throughput of its last plan", None, None, "records/s", spark=carried(ds2)),
    ]
    ended = has_ended(own.cycles)
    return Item.of(
        title="AuTraScale, Fig. 5 (b), on Spark",
        setting=f"yahoo at {RATE:.0f} records/s (60,000 in the paper) on the real-time engine, from all ones, without "
        f"a latency target; a store inside the JVM answers what {CAP:.0f} records/s ask; policy running time "
        f"{RUNNING_TIME:.0f} s; DS2 decides for {SECONDS:.0f} s, {PAUSE:.0f} s after a change at the earliest, "
        "AuTraScale until it has ended. "
        "Nothing is simulated beside it: what the store makes a record wait cannot be told from what the join takes",
        rows=rows,
        claims={
            "no plan gets more through than the store answers": (
                max(tried.values(), default=0.0) < RATE * (1 - KEEP_UP) if tried else None,
                f"{max(tried.values(), default=0.0):,.0f} of {RATE:,.0f} records/s",
            ),
            "the best gets through what the store answers": agrees(
                max(tried.values(), default=None), CAP, THROUGHPUT, ",.0f"
            ),
            "AuTraScale ends all the same": (
                ended,
                " -> ".join(map(str, own.plans)),
            ),
            "it looks back: of the plans within a tenth of the best it keeps the one with the fewest instances": (
                _looked_back(own, tried) if ended else cannot_be_judged("it had not ended")
            ),
            "DS2 has more instances in the end, for no more throughput": (
                sum(ds2.plans[-1]) > sum(own.plans[-1]) and carried(ds2) <= carried(own) * (1 + NOISE),
                f"{sum(ds2.plans[-1])} against {sum(own.plans[-1])}; {carried(ds2):,.0f} and {carried(own):,.0f} "
                "records/s",
            ),
        },
        charts=(Chart("Fig. 5 (b) on Spark", "s", "records/s", tuple(run.throughput for run in spark)),),
    )


def steps(run: Run) -> dict[Configuration, float]:
    """The plans that throughput optimisation ran, with the highest throughput that each showed."""
    decided = (cycle.decision.figures.get("steps") for cycle in reversed(run.cycles))
    return {tuple(plan): done for plan, done in next((each for each in decided if each), ())}


def _looked_back(run: Run, tried: Mapping[Configuration, float]) -> Judged | Verdict:
    if len(tried) < 2:
        return cannot_be_judged("it ran one plan only at this rate")
    best = max(tried.values())
    near = [plan for plan, done in tried.items() if done >= best * (1 - NOISE)]
    fewest = min(near, key=sum)
    return run.plans[-1] == fewest, f"{run.plans[-1]}; of {', '.join(map(str, near))}"
