"""Fig. 5 on Spark: what the experiment makes of walks that are written by hand."""

from __future__ import annotations

from penstock.papers.autrascale.spark import fig5
from penstock.papers.spark.trial import Run, plan_of
from penstock.report.judging import Judgement
from spark_trials import Configuration, cycle, figure, judgement, story, window, windows

ONES, GROWN, LEAST = (1, 1, 1, 1), (1, 2, 6, 5), (1, 1, 3, 2)


def walk(policy: str, end: Configuration, reached: float) -> Run:
    trial = fig5.trial(policy)
    first, second = windows(trial, ONES, 4, 90, 90), windows(trial, end, 12, reached, reached)
    return story(trial, (ONES, first), (end, second))


def test_a_walk_that_ends_where_the_job_keeps_up_is_as_in_the_paper() -> None:
    runs = [walk("ds2", LEAST, 199), walk("autrascale", GROWN, 260)]
    item = fig5.item(runs, runs)
    assert [claim.judgement for claim in item.claims] == [Judgement.HOLDS] * 6
    plan = figure(item, "autrascale: plan")
    assert (plan.paper, plan.ours, plan.spark) == ("(3, 4, 12, 10)", "(1, 2, 6, 5)", "(1, 2, 6, 5)")
    assert figure(item, "ds2: throughput").spark == 199
    assert figure(item, "autrascale: plans run").spark == 2


def test_a_walk_that_never_keeps_up_does_not_hold() -> None:
    runs = [walk("ds2", LEAST, 120), walk("autrascale", (2, 2, 2, 2), 120)]
    item = fig5.item(runs, runs)
    assert judgement(item, "keeps up") is Judgement.FAILS
    assert judgement(item, "above the input") is Judgement.FAILS
    assert judgement(item, "shape of the paper's") is Judgement.FAILS
    assert judgement(item, "DS2 reaches") is Judgement.FAILS
    assert judgement(item, "at most 4 plans") is Judgement.HOLDS


def test_a_walk_has_not_arrived_while_it_warms_up_or_still_changes() -> None:
    trial = fig5.trial("ds2")
    ones, grown = plan_of(trial.job, ONES), plan_of(trial.job, GROWN)
    good = [cycle(grown, grown, sample) for sample in windows(trial, GROWN, 4, 200, 191)]
    assert fig5.has_arrived(good)
    assert not fig5.has_arrived(good[:1])
    assert not fig5.has_arrived([good[0], cycle(ones, grown, window(6, trial, ONES, 200))])
    assert not fig5.has_arrived([good[0], cycle(grown, grown, window(6, trial, GROWN, 200, warm_up=True))])
    assert not fig5.has_arrived([good[0], cycle(grown, grown, window(6, trial, GROWN, 189))])
