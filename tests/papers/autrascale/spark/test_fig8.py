"""Fig. 8 on Spark: the whole experiment, run in the simulator."""

from __future__ import annotations

import pytest

from penstock.papers.autrascale.spark import fig8
from penstock.papers.spark.trial import Run
from penstock.report.judging import Judgement
from spark_trials import figure, judgement, simulated_run


@pytest.fixture(scope="module")
def runs() -> list[Run]:
    first = simulated_run(fig8.trial(fig8.KNOWING))
    return [first, simulated_run(fig8.trial(fig8.ANEW, fig8.plan_before(first)))]


def test_a_search_is_shown_step_by_step_and_its_model_is_transferred(runs: list[Run]) -> None:
    item = fig8.item(runs, runs)
    assert figure(item, "before: bootstrap samples").spark == 6
    assert figure(item, "before: Bayesian steps").spark == 4
    assert sum(row.label.startswith("step") and row.label.endswith("EI") for row in item.rows) == 4
    assert judgement(item, "at least three Bayesian steps") is Judgement.HOLDS
    assert judgement(item, "is transferred") is Judgement.HOLDS
    assert judgement(item, "its first plans are better") is not Judgement.OPEN


def test_the_one_that_knows_nothing_begins_where_the_other_was_and_takes_bootstrap_samples(runs: list[Run]) -> None:
    first, anew = runs
    assert anew.plans[0] == fig8.plan_before(first)
    assert fig8.asked(anew.cycles, fig8.BOOTSTRAP)
    assert not fig8.asked(anew.cycles, fig8.TRANSFER)
    assert [len(fig8.chosen(run.cycles)) for run in runs] == [fig8.COMPARED] * 2


def test_a_run_that_ended_before_the_rate_changed_is_not_judged(runs: list[Run]) -> None:
    first, anew = runs
    short = Run(first.trial, first.topology, first.cycles[:20])
    assert fig8.plan_before(short) == tuple(short.cycles[-1].decision.plan.parallelism.values())
    item = fig8.item([short, anew], runs)
    assert judgement(item, "its first plans are better") is Judgement.OPEN
