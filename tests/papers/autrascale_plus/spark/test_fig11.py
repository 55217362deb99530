"""Fig. 11 on Spark: what the experiment makes of a course that is written by hand, and what its policies do."""

from __future__ import annotations

from dataclasses import replace

import pytest

from penstock.control.think import think
from penstock.model import Decision, Observation, Reason, ReasonCode
from penstock.papers.autrascale_plus.spark import fig11
from penstock.papers.spark.trial import Run, plan_of
from penstock.report.judging import Judgement
from spark_trials import Configuration, cycle, figure, judgement, window

FEW, MANY = (2, 2, 6, 5), (7, 7, 7, 7)
PLANS = {"autrascale_plus": FEW, "exponent": (2, 4, 7, 7), "proportion": (2, 3, 7, 6), "max": MANY}


def course(method: str, plan: Configuration, late: int) -> Run:
    """Late under the steady plan, a drain of so many windows, the way back, and met again."""
    trial = fig11.trial(method, 100.0)
    steady, draining = trial.start, plan_of(fig11.JOB, plan)
    drains = {"phase": fig11.DRAINING}
    first = cycle(steady, draining, window(0, trial, fig11.STEADY, 250, backlog=5000, latency_ms=9e3))
    cycles = [replace(first, decision=replace(first.decision, figures=drains))]
    cycles += [
        cycle(draining, draining, window(2 + 2 * n, trial, plan, 400, backlog=1000, latency_ms=5e3))
        for n in range(late)
    ]
    met = cycle(draining, steady, window(2 + 2 * late, trial, plan, 300))
    back = Decision(plan=steady, reason=Reason(ReasonCode.RESTORE, ""))
    cycles.append(replace(met, decision=back))
    cycles.append(cycle(steady, steady, window(4 + 2 * late, trial, fig11.STEADY, 200, warm_up=True)))
    cycles.append(cycle(steady, steady, window(6 + 2 * late, trial, fig11.STEADY, 200)))
    return Run(trial, trial.job.pipeline(None, None).topology(), tuple(cycles))  # type: ignore[arg-type]


def test_a_course_is_drained_in_time_and_over_when_the_latency_is_met_after_the_return() -> None:
    whole = course("max", MANY, late=5)
    found = fig11.drained(whole.cycles)
    assert (found.plan, found.seconds, found.calm) == (MANY, 12.0, 16.0)
    assert (found.instances, found.instance_seconds, found.in_time) == (28, 12 * 28, True)
    assert not fig11.drained(course("max", MANY, late=15).cycles).in_time


def test_until_then_it_is_not_over() -> None:
    whole = course("max", MANY, late=5)
    assert fig11.is_over(whole.cycles)
    assert not fig11.is_over(whole.cycles[:-1])  # the window of the return is warm-up
    still = fig11.drained(whole.cycles[:4])
    assert (still.seconds, still.calm, still.in_time) == (None, None, False)
    assert fig11.drained(()).plan is None


def test_fewer_instances_in_time_are_what_autrascale_plus_claims() -> None:
    runs = [course(method, plan, late=5) for method, plan in PLANS.items()]
    item = fig11.item(runs, runs, 100.0)
    assert [claim.judgement for claim in item.claims] == [Judgement.HOLDS] * 7
    assert figure(item, "saved against max").spark == pytest.approx(1 - 15 / 28)
    slow = [course("autrascale_plus", FEW, late=30), *runs[1:]]
    assert judgement(fig11.item(slow, runs, 100.0), "AuTraScale+ keeps the limit") is Judgement.FAILS


def test_a_method_that_never_drains_leaves_its_claim_open() -> None:
    runs = [course(method, plan, late=5) for method, plan in PLANS.items()]
    idle = replace(runs[3], cycles=runs[3].cycles[-2:])
    found = fig11.item([*runs[:3], idle], runs, 100.0)
    assert judgement(found, "fewer instances than max") is Judgement.OPEN
    assert judgement(found, "Max and Exponent keep the limit") is Judgement.OPEN  # it missed none
    only_max = [runs[0], *(replace(run, cycles=run.cycles[-2:]) for run in runs[1:3]), runs[3]]
    found = fig11.item(only_max, runs, 100.0)
    assert judgement(found, "most against Max") is Judgement.OPEN  # there is nothing to compare it with


def test_a_run_without_a_drain_says_when_it_could_first_decide_and_returns_from_none() -> None:
    runs = [course(method, plan, late=5) for method, plan in PLANS.items()]
    last = runs[0].cycles[-1]
    blind, known = (replace(last.decision, figures=figures) for figures in ({}, {"phase": "steady"}))
    idle = replace(runs[0], cycles=(replace(last, t=8.0, decision=blind), replace(last, t=46.0, decision=known)))
    found = fig11.item([idle, *runs[1:]], runs, 100.0)
    assert judgement(found, "goes back to its steady plan") is Judgement.OPEN
    assert all("after 46 s" in claim.why for claim in found.claims if "goes back" in claim.text)


@pytest.mark.parametrize("method", PLANS)
def test_each_method_drains_in_the_loop_from_the_window_in_which_the_backlog_shows(method: str) -> None:
    """4,526 records wait, 200 a second come, and the plan does 300: at 338 a second they are gone within 30 s."""
    trial = fig11.trial(method, 100.0)
    late = window(20, trial, fig11.STEADY, 300, backlog=4_526, latency_ms=9e3)
    topology = trial.job.pipeline(None, None).topology()  # type: ignore[arg-type]
    seen = Observation(t=late.end, topology=topology, slo=fig11.SLO, plan=trial.start, samples=(late,))
    decision = think(trial.chosen_policy(), (), seen, fresh=1)
    assert decision.figures["phase"] == fig11.DRAINING
    assert tuple(decision.plan.parallelism.values()) == PLANS[method]
