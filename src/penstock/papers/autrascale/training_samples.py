"""How many samples WordCount's model is trained with, and how many iterations its search then takes.

The paper says: the more of them, the fewer. Here a model that knows more sends the search nearer to the best score (4),
which lies just above the latency target: what is tried there misses it.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from statistics import fmean, median

from penstock.papers.autrascale.elasticity import ALPHA, KINDS, SEEDS, TESTS, ending
from penstock.papers.autrascale.steady import latency_ms, steady
from penstock.papers.catalogue import workload
from penstock.performance.bayesian.score import benefit_score, score_threshold
from penstock.performance.bayesian.search_space import Configuration
from penstock.report.item import Row
from penstock.report.judging import Verdict, theirs

JOB = "wordcount"
MORE_SAMPLES = (40, 80)
"""Other numbers of samples that its model is trained with, beside the paper's ten."""
THRESHOLD = score_threshold(ALPHA, 1.0)
STRICTER = 0.95
"""An alpha with which a latency above its target costs more of the score than a smaller plan brings."""

Runs = list[tuple[int, tuple[Configuration, ...]]]
"""The seed of each run, and the plans that it put in force one after the other, without the first one."""


def by_samples(policy: str) -> tuple[list[Row], Verdict]:
    """What other numbers of training samples change, up and down."""
    numbers = (TESTS[JOB].samples, *MORE_SAMPLES)
    found = {n: _runs(policy, n, ALPHA) for n in numbers}
    middle = {n: _iterations(runs) for n, runs in found.items()}
    instances = {n: median(sum(plans[-1]) for _, plans in runs if plans) for n, runs in found.items()}
    stricter = {n: _iterations(_runs(policy, n, STRICTER)) for n in numbers}
    rows = [
        Row(f"{JOB}, {n} samples: {what}", None, figures[n])
        for what, figures in {
            "iterations, up and down": middle,
            f"iterations, were alpha {STRICTER:g}": stricter,
            "instances, up and down": instances,
        }.items()
        for n in numbers
    ]
    fewer = all(after < before for before, after in pairwise(middle.values()))
    means = ", ".join(f"{fmean(len(plans) for _, plans in runs):.1f}" for runs in found.values())
    why = (
        f"{_listed(middle)} with {', '.join(map(str, numbers))} for WordCount in the median of both directions and all "
        f"seeds, {means} in the mean"
    )
    cause = theirs(
        f"{_just_above(found[numbers[-1]])}: the more a model knows, the nearer to them the search goes, one by one. "
        f"What samples bring is a smaller plan in the end, {_listed(instances)} instances. With an alpha of "
        f"{STRICTER:g}, where a missed latency costs more, {_listed(stricter)} iterations do, of which hardly one is "
        "left to be saved"
    )
    return rows, Verdict(fewer, why, cause=cause)


def _runs(policy: str, samples: int, alpha: float) -> Runs:
    """The plans that each run put in force, up and down, with the run's seed."""
    ends = (ending(JOB, kind, "AuTraScale", policy, samples, alpha) for kind in KINDS)
    return [pair for end in ends for pair in zip(SEEDS, end.runs, strict=True)]


def _iterations(runs: Runs) -> float:
    return median(len(plans) for _, plans in runs)


def _just_above(runs: Runs) -> str:
    """What was tried before the last plan of each run: what scores well enough and misses the target."""
    tried = [_above_target(plan, seed) for seed, plans in runs for plan in plans[:-1]]
    over = [above for above in tried if above > 0.0]
    return (
        "the score (4) takes off little for a latency somewhat above its target, and so the plans with the best scores "
        f"miss it. Of {len(tried)} plans that were tried in vain with most samples, {len(over)} score {THRESHOLD:g} or "
        f"more and miss the target, by {median(over) if over else 0.0:.1%} in the median"
    )


def _above_target(plan: Configuration, seed: int) -> float:
    """By how much a plan with a good score misses the latency; 0 for any other."""
    target = workload(JOB).slo.processing_latency_ms
    assert target is not None
    latency = latency_ms(steady(JOB, TESTS[JOB].rate, plan, seed))
    score = benefit_score(ALPHA, target, latency, TESTS[JOB].base, plan)
    return max(0.0, latency / target - 1.0) if score >= THRESHOLD else 0.0


def _listed(figures: Mapping[int, float]) -> str:
    return ", ".join(f"{figure:g}" for figure in figures.values())
