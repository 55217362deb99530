"""Fig. 11 on Spark: what the experiment makes of a backlog that is written by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from penstock.papers.autrascale_plus.spark import fig11
from penstock.papers.spark.trial import Run, plan_of
from penstock.report.judging import Judgement
from spark_trials import Configuration, cycle, figure, judgement, story, window, windows

FEW, MANY = (2, 2, 6, 5), (7, 7, 7, 7)
PLANS = {"autrascale_plus": FEW, "exponent": (2, 4, 7, 7), "proportion": (2, 3, 7, 6), "max": MANY}


def drain(method: str, plan: Configuration, late: int) -> Run:
    """The first window has no latency, then it is missed in so many, and met in the last one."""
    trial = fig11.trial(method, plan_of(fig11.JOB, plan), 4_000)
    silent = window(0, trial, plan, 300, backlog=3000, latency_ms=None)
    missed = [window(2 + 2 * n, trial, plan, 400, backlog=1000, latency_ms=5e3) for n in range(late)]
    return story(trial, (plan, [silent, *missed, window(2 + 2 * late, trial, plan, 300)]))


def test_the_time_to_drain_ends_when_the_latency_is_met_again() -> None:
    found = fig11.drained(drain("max", MANY, late=5))
    assert (found.seconds, found.instances, found.instance_seconds) == (14.0, 28, 14 * 28)
    assert found.in_time
    assert not fig11.drained(drain("max", MANY, late=15)).in_time


def test_a_latency_that_is_met_before_the_backlog_shows_ends_nothing() -> None:
    whole = drain("max", MANY, late=1)
    early = cycle(whole.trial.start, whole.trial.start, window(0, whole.trial, MANY, 300))
    assert fig11.drained(replace(whole, cycles=(early, *whole.cycles))).seconds == 6.0


def test_a_backlog_that_is_still_there_at_the_end_has_no_time() -> None:
    whole = drain("exponent", PLANS["exponent"], late=5)
    assert fig11.is_over(whole.cycles)
    assert not fig11.is_over(whole.cycles[:-1])
    found = fig11.drained(replace(whole, cycles=whole.cycles[:-1]))
    assert (found.seconds, found.in_time) == (None, False)


def test_fewer_instances_in_time_are_what_autrascale_plus_claims() -> None:
    runs = [drain(method, plan, late=5) for method, plan in PLANS.items()]
    item = fig11.item(runs, runs, 100.0)
    assert [claim.judgement for claim in item.claims] == [Judgement.HOLDS] * 6
    assert figure(item, "saved against max").spark == pytest.approx(1 - 15 / 28)
    slow = [drain("autrascale_plus", FEW, late=30), *runs[1:]]
    assert judgement(fig11.item(slow, runs, 100.0), "AuTraScale+ keeps the limit") is Judgement.FAILS


def test_each_method_finds_its_plan_from_the_window_in_which_the_backlog_has_come() -> None:
    """4,526 records wait, 200 a second come, and the plan does 300: at 338 a second they are gone within 30 s."""
    calm = story(fig11.CALM, (fig11.STEADY, windows(fig11.CALM, fig11.STEADY, 4, 200, 200)))
    late = window(20, fig11.BURDENED, fig11.STEADY, 300, backlog=4_526, latency_ms=9e3)
    burdened = story(fig11.BURDENED, (fig11.STEADY, [late]))
    found = fig11.trials(calm, burdened)
    assert {one.label: tuple(one.start.parallelism.values()) for one in found} == PLANS
    assert {one.backlog for one in found} == {4_526}
