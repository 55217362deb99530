"""Fig. 8 of AuTraScale on Spark: a whole search at one rate, then another rate, with a transfer and without.

The paper does it with Nexmark's queries, whose state Spark cannot repartition in real time; here it is WordCount. The
first run optimises throughput, takes its bootstrap samples and its Bayesian steps, and then the rate changes. The
second one begins at the new rate, with the plan that was in force, and knows nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from penstock.load.curves import constant
from penstock.load.trace import Trace
from penstock.model import Cycle, Sample, Slo
from penstock.papers.autrascale.spark.wordcount import JOBS
from penstock.papers.spark import simulated
from penstock.papers.spark.runner import TrialRunner
from penstock.papers.spark.trial import KEEP_UP, Cycles, Run, Trial, plan_of
from penstock.performance.bayesian.search_space import Configuration
from penstock.report.item import Chart, Item, Row, Series
from penstock.report.judging import cannot_be_judged

(JOB,) = JOBS
OLD, NEW = 150.0, 200.0
LEARNING, SECONDS = 160.0, 90.0
"""So long each rate lasts, the second one at most: a sample takes eight seconds or more on a busy machine."""
SLO = Slo(processing_latency="30 ms")
"""Less than the engine needs for four operators: the search goes on until its trials are spent, so that it is seen."""
ONES: Configuration = (1, 1, 1, 1)
TRIALS = 5
OPTIONS: Mapping[str, Any] = {
    "keep_up_tolerance": KEEP_UP, "policy_running_time": 2.0, "uniform_samples": 2, "max_iterations": TRIALS,
}  # fmt: skip
COMPARED = 3
"""So many plans at the new rate are compared: the first that each of the two chooses by itself."""
BOOTSTRAP, BAYESIAN, TRANSFER = "bootstrap", "bayesian optimisation", "transfer"
KNOWING, ANEW = "transfer", "anew"


def trial(kind: str, start: Configuration = ONES) -> Trial:
    load = Trace("change", (0.0, LEARNING, LEARNING, LEARNING + SECONDS), (OLD, OLD, NEW, NEW))
    load = load if kind == KNOWING else constant(NEW, SECONDS)
    return Trial(
        kind, JOB, load, SLO, plan_of(JOB, start), policy="autrascale", policy_options=OPTIONS, enough=is_enough
    )


def is_enough(cycles: Cycles) -> bool:
    return len(chosen(cycles)) >= COMPARED


def is_new(cycle: Cycle) -> bool:
    """Whether a decision is about the new rate."""
    rate = cycle.decision.figures.get("model_rate")
    return rate is not None and rate > (OLD + NEW) / 2


def since_the_change(cycles: Sequence[Cycle]) -> Sequence[Cycle]:
    """The cycles from the first decision about the new rate on; while a job warms up, a decision is about none."""
    first = next((index for index, cycle in enumerate(cycles) if is_new(cycle)), len(cycles))
    return cycles[first:]


def asked(cycles: Sequence[Cycle], phase: str) -> list[Cycle]:
    """The decisions of a phase that asked for another plan."""
    return [c for c in cycles if c.decision.figures.get("phase") == phase and c.changed]


def chosen(cycles: Sequence[Cycle]) -> dict[Configuration, float]:
    """The scores of the plans that the search at the new rate chose and ran, in that order, without the base."""
    wanted, found = set[Configuration](), dict[Configuration, float]()
    for cycle in since_the_change(cycles):
        plan, score = tuple(cycle.before.parallelism.values()), cycle.decision.figures.get("score")
        if plan in wanted and score is not None:
            found.setdefault(plan, score)
        if cycle.changed and cycle.decision.figures.get("phase") in (BOOTSTRAP, BAYESIAN, TRANSFER):
            wanted.add(_plan(cycle))
    return found


def fig_8(runner: TrialRunner) -> Item:
    first = runner.run(trial(KNOWING))
    anew = runner.run(trial(ANEW, plan_before(first)))
    return item([first, anew], simulated.simulated([first, anew]))


def plan_before(run: Run) -> Configuration:
    """The plan in force when the rate changed."""
    after = since_the_change(run.cycles)
    in_force = after[0].before if after else run.cycles[-1].decision.plan
    return tuple(in_force.parallelism.values())


def item(spark: Sequence[Run], twins: Sequence[Run]) -> Item:
    old, before = (_before_the_change(runs[0].cycles) for runs in (spark, twins))
    bayesian, bootstrap = asked(old, BAYESIAN), asked(old, BOOTSTRAP)
    here, there = ({run.trial.label: chosen(run.cycles) for run in runs} for runs in (spark, twins))
    transfers = asked(spark[0].cycles, TRANSFER)
    rows = [
        Row("before: bootstrap samples", None, len(asked(before, BOOTSTRAP)), spark=len(bootstrap)),
        Row("before: Bayesian steps", None, len(asked(before, BAYESIAN)), spark=len(bayesian)),
        *(row for number, step in enumerate(bayesian, 1) for row in _surrogate(f"step {number}", step)),
        Row("before: last plan", None, str(plan_before(twins[0])), spark=str(plan_before(spark[0]))),
        *(row for number, step in enumerate(transfers, 1) for row in _surrogate(f"transfer {number}", step)),
    ]
    for label, scores in here.items():
        rows += [Row(f"{label}: {plan} scores", None, there[label].get(plan), spark=s) for plan, s in scores.items()]
        rows.append(Row(f"{label}: mean of these scores", None, _mean(there[label]), spark=_mean(scores)))
    means = [_mean(scores) for scores in here.values()]
    return Item.of(
        title="AuTraScale, Fig. 8, on Spark",
        setting=f"wordcount on the real-time engine; autrascale from all ones at {OLD:.0f} records/s: throughput, 2 "
        f"uniform and 4 single bootstrap samples, then Bayesian steps until {TRIALS} further plans have run, as the "
        f"target of {SLO.processing_latency_ms:.0f} ms is less than four operators take; after {LEARNING:.0f} s "
        f"{NEW:.0f} records/s come, and it transfers; beside it one that begins there, with the plan in force, and "
        f"knows nothing; what counts is the score (4) of the first {COMPARED} plans that each chooses. Nexmark's "
        "queries, with which the paper shows it, keep state, which Spark does not repartition in real time; "
        f"{simulated.SETTING}",
        rows=rows,
        claims={
            "after the bootstrap set it takes at least three Bayesian steps, each where it expects most": (
                len(bayesian) >= 3,
                f"{len(bootstrap)} bootstrap samples, {len(bayesian)} Bayesian steps: "
                + ", ".join(str(_plan(step)) for step in bayesian),
            ),
            "at the new rate the model of the old one is transferred": (
                bool(transfers),
                ", ".join(str(_plan(step)) for step in transfers) or "no step of a transfer",
            ),
            "with the transfer its first plans are better than those of one that learns anew": (
                cannot_be_judged("one of the two ran too few plans")
                if means[0] is None or means[1] is None or min(map(len, here.values())) < COMPARED
                else (means[0] > means[1], f"mean score {means[0]:.3f} against {means[1]:.3f}")
            ),
        },
        charts=(
            Chart("Fig. 8 on Spark: instances", "s", "instances", tuple(_instances(run) for run in spark)),
            Chart("Fig. 8 on Spark: latency", "s", "ms", tuple(run.line(_processing_ms) for run in spark)),
        ),
    )


def _surrogate(name: str, step: Cycle) -> list[Row]:
    """What the surrogate expected of a step: mean and deviation of the score, and the expected improvement."""
    figures = step.decision.figures
    return [
        Row(f"{name}, {_plan(step)}: {figure}", None, None, "score", spark=figures[figure])
        for figure in ("mu", "sigma", "EI")
    ]


def _before_the_change(cycles: Sequence[Cycle]) -> Sequence[Cycle]:
    return cycles[: len(cycles) - len(since_the_change(cycles))]


def _plan(cycle: Cycle) -> Configuration:
    return tuple(cycle.decision.plan.parallelism.values())


def _mean(scores: Mapping[Configuration, float]) -> float | None:
    first = list(scores.values())[:COMPARED]
    return fmean(first) if first else None


def _instances(run: Run) -> Series:
    return Series(run.trial.label, tuple(c.t for c in run.cycles), tuple(float(c.before.total) for c in run.cycles))


def _processing_ms(sample: Sample) -> float | None:
    return None if sample.processing_latency_ms is None else sample.processing_latency_ms.mean
