"""Fig. 2 of Dp-Stream on Spark: what the experiment makes of runs that are written by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from penstock.papers.dp_stream.spark import fig2
from penstock.papers.spark.trial import Run, Trial
from penstock.report.item import Item
from penstock.report.judging import Judgement, Whose
from penstock.runs.spark_workload import SparkWorkload
from spark_trials import figure, judgement, story, windows

PLAN = (1, 2, 2)


def run(trial: Trial, latency_ms: float) -> Run:
    return story(trial, (PLAN, windows(trial, PLAN, 0.0, *[100.0] * 4, latency_ms=latency_ms)))


def made(*latencies: float) -> Item:
    """Of runs with these latencies, in the order of the trials."""
    trials = fig2.trials(fig2.just_carried(fig2.WORD_COUNT))
    runs = [run(trial, latency) for trial, latency in zip(trials, latencies, strict=True)]
    return fig2.item(2, 2.27, 4.66, fig2.WORD_COUNT, runs)


@pytest.mark.parametrize(("usual", "plan"), [(fig2.WORD_COUNT, PLAN), (fig2.TOP_N, (1, 2, 2, 1))])
def test_the_default_plan_just_carries_the_highest_rate(usual: SparkWorkload, plan: tuple[int, ...]) -> None:
    job = fig2.just_carried(usual)
    assert all(tuple(trial.start.parallelism.values()) == plan for trial in fig2.trials(job))
    busy = job.busy(job.trace.peak)
    assert max(busy[name] / instances for name, instances in fig2.start_of(job).parallelism.items()) == pytest.approx(
        fig2.BUSY
    )


def test_latencies_are_compared_with_the_default_plan_and_with_no_prediction() -> None:
    item = made(90.0, 60.0, 50.0)
    assert [claim.judgement for claim in item.claims] == [Judgement.HOLDS] * 2
    assert figure(item, "Dp-Stream: mean latency").spark == pytest.approx(50.0)
    assert figure(item, "default: mean latency").paper == 4.66
    slow = made(90.0, 50.0, 60.0)
    assert judgement(slow, "prediction") is Judgement.FAILS


def test_what_else_may_be_the_cause_is_tried_in_the_simulator() -> None:
    """A change that is handed over costs nothing there, and a restart a second; a decision may come more often; and the
    default plan may have instances to spare."""
    item = made(50.0, 60.0, 90.0)

    def ours(label: str) -> float:
        found = figure(item, f"{label}: mean latency").ours
        assert isinstance(found, float)
        return found

    assert ours(f"{fig2.OWN}, by restarts") > 1.5 * ours(fig2.OWN)
    assert ours(f"{fig2.STORM}, by restarts") == ours(fig2.STORM)  # it never changes
    assert ours(f"{fig2.OWN}, a decision every 0.5 s") < ours(fig2.OWN)
    assert ours(f"{fig2.STORM}, at most 180 records/s") < ours(fig2.STORM)
    cause = item.claims[0].verdict.cause
    assert cause.whose is Whose.OURS
    assert "one every 20 of them" in cause.text


def test_a_disturbed_start_shows_beside_what_comes_after_it() -> None:
    trials = fig2.trials(fig2.just_carried(fig2.WORD_COUNT))
    start = windows(trials[0], PLAN, 0.0, *[100.0] * 10, latency_ms=300.0)
    later = windows(trials[0], PLAN, 20.0, *[100.0] * 10, latency_ms=100.0)
    runs = [story(trials[0], (PLAN, [*start, *later])), *(run(trial, 150.0) for trial in trials[1:])]
    item = fig2.item(2, 2.27, 4.66, fig2.WORD_COUNT, runs)
    assert figure(item, "default: mean latency").spark == pytest.approx(200.0)
    assert figure(item, "default: the same after the first 20 s").spark == pytest.approx(100.0)


def test_a_window_without_a_latency_is_no_point_of_the_line() -> None:
    trial = fig2.trials(fig2.WORD_COUNT)[0]
    silent = [replace(each, event_latency_ms=None) for each in windows(trial, PLAN, 8.0, 0.0)]
    item = fig2.item(
        2, 2.27, 4.66, fig2.WORD_COUNT,
        [story(each, (PLAN, [*windows(each, PLAN, 0.0, *[100.0] * 4), *silent])) for each in fig2.trials(trial.job)],
    )  # fmt: skip
    assert item.charts[0].series[0].x == (2.0, 4.0, 6.0, 8.0)
