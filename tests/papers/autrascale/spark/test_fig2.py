"""Fig. 2 on Spark: what the experiment makes of throughputs that are written by hand."""

from __future__ import annotations

from dataclasses import replace

from penstock.papers.autrascale.spark import fig2
from penstock.papers.spark.trial import Run
from penstock.report.judging import Judgement
from spark_trials import figure, judgement, story, windows


def fixed(*throughputs: float) -> list[Run]:
    runs = []
    for p, done in zip(fig2.PARALLELISM, throughputs, strict=True):
        plan = (1, 1, p, 1)
        runs.append(story(fig2.trial(p), (plan, windows(fig2.trial(p), plan, 4, *[done] * fig2.WINDOWS))))
    return runs


def walked(end: int) -> Run:
    plans = (1, 1, 1, 1), (1, 1, end, 1)
    first, last = (windows(fig2.walk(), plan, t, 150, 150, 150) for t, plan in zip((4, 12), plans, strict=True))
    run = story(fig2.walk(), (plans[0], first), (plans[1], last))
    steady = [replace(c, decision=replace(c.decision, figures={"phase": "steady"})) for c in run.cycles[3:]]
    return replace(run, cycles=(*run.cycles[:3], *steady))


def test_instances_that_share_cores_bring_less_and_less() -> None:
    item = fig2.item(fixed(150, 250, 260, 262), walked(3), 2)
    assert [claim.judgement for claim in item.claims] == [Judgement.HOLDS] * 4
    assert figure(item, "throughput, p = 3").spark == 260
    assert figure(item, "autrascale: instances of the count").spark == 3
    crowded = fig2.item(fixed(150, 140, 100, 160), walked(fig2.MOST), 2)
    assert [claim.judgement for claim in crowded.claims] == [
        Judgement.FAILS, Judgement.FAILS, Judgement.HOLDS, Judgement.FAILS,
    ]  # fmt: skip


def test_what_was_not_measured_is_not_judged() -> None:
    runs = fixed(150, 250, 260, 262)
    silent = replace(runs[3], cycles=())
    item = fig2.item([*runs[:3], silent], replace(walked(3), cycles=()), 2)
    assert judgement(item, "a fourth brings less") is Judgement.OPEN
    assert judgement(item, "does not keep all") is Judgement.OPEN
    assert judgement(item, "AuTraScale ends") is Judgement.FAILS


def test_a_plan_in_whose_windows_nothing_came_through_says_nothing_of_the_policy() -> None:
    run = walked(3)
    still = [
        replace(c, samples=tuple(replace(sample, throughput=0.0) for sample in c.samples)) if not c.changed else c
        for c in run.cycles
    ]
    item = fig2.item(fixed(150, 250, 260, 262), replace(run, cycles=tuple(still)), 2)
    assert judgement(item, "AuTraScale ends") is Judgement.OPEN
    assert judgement(item, "does not keep all") is Judgement.OPEN


def test_that_equation_3_sizes_the_count_for_its_parents_is_told_with_its_figures() -> None:
    run = walked(fig2.MOST)
    rates = {"true_processing_rate": {"flat_map": 30_000.0, "count": 213.0}}
    first = [replace(c, decision=replace(c.decision, figures=rates)) if c.changed else c for c in run.cycles]
    cause = fig2.item(fixed(150, 250, 260, 262), replace(run, cycles=tuple(first)), 2).claims[-1].verdict.cause.text
    assert "one flat map 30,000 records/s. For the 500 that come, 3 would be asked for" in cause
