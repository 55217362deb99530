"""Table VIII on Spark: what the experiment makes of runs that are written by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from penstock.papers.psps.spark import table8
from penstock.papers.spark.trial import Run, plan_of
from penstock.report.judging import Judgement
from spark_trials import Configuration, figure, judgement, story, window


def tweeted(name: str, plan: Configuration, throughput: float, latency_ms: float) -> Run:
    trial = table8.trial(name)
    start = plan_of(trial.job, plan)
    samples = [window(2.0 * n, trial, plan, throughput, rate=100.0, latency_ms=latency_ms) for n in range(4)]
    run = story(trial, (plan, samples))
    return replace(run, trial=replace(trial, start=start))


def test_psps_processes_nearly_all_with_fewer_replicas() -> None:
    runs = [
        tweeted("PSPS", (4,) * 4, 98, 2500),
        tweeted("r = 1", (1,) * 4, 40, 9e3),
        tweeted("r = 4", (4,) * 4, 97, 2600),
        tweeted("r = 8", (8,) * 4, 100, 900),
    ]
    item = table8.item(runs, runs)
    assert judgement(item, "0.5617") is Judgement.FAILS  # 0.5 is further away than a share may be
    assert [claim.judgement for claim in item.claims].count(Judgement.HOLDS) == 5
    assert figure(item, "PSPS: saved resources").spark == pytest.approx(0.5)
    assert figure(item, "r = 1: processed events").spark == pytest.approx(0.4)
    assert figure(item, "r = 8: throughput degradation").spark == pytest.approx(0.0)
    slower = table8.item([*runs[:3], tweeted("r = 8", (8,) * 4, 100, 2600)], runs)
    assert judgement(slower, "eight have a lower latency") is Judgement.FAILS
