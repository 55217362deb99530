"""Fig. 2 of Dp-Stream on Spark: what the experiment makes of runs that are written by hand."""

from __future__ import annotations

import pytest

from penstock.papers.dp_stream.spark import fig2
from penstock.papers.spark.trial import Run, Trial
from penstock.report.judging import Judgement
from spark_trials import figure, judgement, story, windows

PLAN = (1, 2, 2)


def run(trial: Trial, latency_ms: float) -> Run:
    return story(trial, (PLAN, windows(trial, PLAN, 0.0, *[100.0] * 4, latency_ms=latency_ms)))


def test_the_default_plan_just_carries_the_highest_rate() -> None:
    plan = fig2.start_of(fig2.WORD_COUNT)
    busy = fig2.WORD_COUNT.busy(fig2.WORD_COUNT.trace.peak)
    assert tuple(plan.parallelism.values()) == PLAN
    assert all(plan[name] - 1 < instances <= plan[name] for name, instances in busy.items())
    assert fig2.start_of(fig2.TOP_N).total == 6


def test_latencies_are_compared_with_the_default_plan_and_with_no_prediction() -> None:
    runs = [
        run(trial, latency) for trial, latency in zip(fig2.trials(fig2.WORD_COUNT), (90.0, 60.0, 50.0), strict=True)
    ]
    item = fig2.item(2, 2.27, 4.66, runs, runs)
    assert [claim.judgement for claim in item.claims] == [Judgement.HOLDS] * 2
    assert figure(item, "Dp-Stream: mean latency").spark == pytest.approx(50.0)
    assert figure(item, "default: mean latency").paper == 4.66
    slow = [
        run(trial, latency) for trial, latency in zip(fig2.trials(fig2.WORD_COUNT), (90.0, 50.0, 60.0), strict=True)
    ]
    assert judgement(fig2.item(2, 2.27, 4.66, slow, slow), "prediction") is Judgement.FAILS
