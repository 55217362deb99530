"""Table IV on Spark: what the experiment makes of runs that are written by hand."""

from __future__ import annotations

import pytest

from penstock.papers.autrascale_plus.spark import table4
from penstock.papers.spark.trial import Run, plan_of
from penstock.report.judging import Judgement
from spark_trials import Configuration, cycle, figure, story, window, windows

GROWN = (1, 2, 6, 5)


def scaled(kind: str, method: str, end: Configuration, latency_ms: float) -> Run:
    trial, start = table4.trial(kind, method), table4.STARTS[kind]
    after = [window(10 + 2 * n, trial, end, 200, latency_ms=latency_ms) for n in range(3)]
    return story(trial, (start, windows(trial, start, 4, 100)), (end, after))


def test_who_meets_the_target_with_fewer_instances_wins() -> None:
    plans = {"DRS observed": (7, 7, 7, 7), "DRS true": (1, 1, 3, 2), "AuTraScale+": GROWN}
    latency = {"DRS observed": 200.0, "DRS true": 2000.0, "AuTraScale+": 300.0}
    runs = [scaled(kind, method, plans[method], latency[method]) for kind in table4.STARTS for method in plans]
    item = table4.item(runs, runs)
    assert [claim.judgement for claim in item.claims] == [Judgement.HOLDS] * 6
    assert figure(item, "saved against DRS, scale up").spark == pytest.approx(1 - 14 / 17.5)
    assert figure(item, "down, DRS true: meets QoS").spark == "no"
    assert figure(item, "up, AuTraScale+: latency").spark == 300.0
    assert figure(item, "up, AuTraScale+: iterations").spark == 1
    assert figure(item, "up, AuTraScale+: plan").paper == "(7, 8, 12, 38)"


def test_a_plan_that_was_never_changed_has_not_settled() -> None:
    trial = table4.trial("down", "AuTraScale+")
    plan = plan_of(trial.job, table4.STARTS["down"])
    calm = [cycle(plan, plan, window(2.0 * n, trial, table4.STARTS["down"], 200)) for n in range(5)]
    assert not table4.has_settled(calm)


def test_a_window_whose_latency_nobody_measured_meets_nothing() -> None:
    trial = table4.trial("up", "DRS true")
    assert table4.meets(window(0, trial, GROWN, 200, latency_ms=499))
    assert not table4.meets(window(0, trial, GROWN, 200, latency_ms=501))
    assert not table4.meets(window(0, trial, GROWN, 200, latency_ms=None))
