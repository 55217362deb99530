"""Table VIII in real time: what the experiment makes of runs that are written by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from penstock.model import Execution
from penstock.papers.psps.spark import table8_real_time as table8
from penstock.papers.spark.trial import Run
from penstock.report.judging import Judgement
from spark_trials import figure, judgement, story, windows


def tweeted(name: str, each: int, throughput: float, latency_ms: float, cpu_seconds: float | None = 2.0) -> Run:
    trial, plan = table8.trial(name), (each,) * 4
    samples = windows(trial, plan, 0.0, *[throughput] * 4, rate=100.0, latency_ms=latency_ms)
    return replace(story(trial, (plan, samples)), cpu_seconds=cpu_seconds)


def runs(own_cpu: float | None = 2.0, eight_ms: float = 150.0) -> list[Run]:
    return [
        tweeted("PSPS", 4, 98.0, 400.0, own_cpu),
        tweeted("r = 1", 1, 40.0, 9e3),
        tweeted("r = 4", 4, 97.0, 600.0),
        tweeted("r = 8", 8, 100.0, eight_ms, 6.0),
    ]


def test_cpu_is_what_spark_counted_over_the_time_of_the_run() -> None:
    item = table8.item(runs(), runs())
    assert figure(item, "PSPS: CPU in use").spark == pytest.approx(0.25)
    assert figure(item, "r = 8: CPU in use").spark == pytest.approx(0.75)
    assert figure(item, "PSPS: saved resources").spark == pytest.approx(0.5)
    assert judgement(item, "less CPU") is Judgement.HOLDS
    assert [claim.judgement for claim in item.claims].count(Judgement.HOLDS) == 4  # 0.5 saved is not 0.5617
    assert judgement(table8.item(runs(own_cpu=8.0), runs()), "less CPU") is Judgement.FAILS
    assert judgement(table8.item(runs(own_cpu=None), runs()), "less CPU") is Judgement.OPEN
    assert judgement(table8.item(runs(eight_ms=500.0), runs()), "eight have a lower") is Judgement.FAILS


def test_eight_of_each_carry_the_peak_in_real_time_and_four_do_not() -> None:
    busy = table8.JOB.busy(table8.JOB.trace.peak)
    assert all(4 < instances < 8 for instances in busy.values())
    trial = table8.trial("PSPS")
    assert (trial.execution, trial.change) == (Execution.CONCURRENT, "handover")
    topology = trial.job.pipeline(None, None).topology()  # type: ignore[arg-type]
    assert {operator.max for operator in topology.operators} == {table8.MOST}
