"""Fig. 9 on Spark: what the experiment makes of streams that are written by hand."""

from __future__ import annotations

import pytest

from penstock.papers.autoscale.spark import fig9
from penstock.papers.spark.trial import Run
from penstock.report.judging import Judgement
from spark_trials import Configuration, figure, judgement, story, window


def streamed(name: str, *plans: Configuration, waiting: float = 1.0) -> Run:
    """Two seconds of each plan at 100 items a second; so many wait at the end."""
    trial = fig9.trial(name)
    return story(trial, *(
        (plan, [window(2.0 * n, trial, plan, 100, rate=100.0, backlog=waiting)]) for n, plan in enumerate(plans)
    ))  # fmt: skip


def test_the_line_on_spark_shows_what_the_figure_shows() -> None:
    runs = [
        streamed("Storm, minimal", *[(1, 1, 1)] * 4, waiting=600),
        streamed("AUTOSCALE", (1, 1, 1), (1, 1, 6), (1, 1, 3), (1, 1, 1)),
        streamed("Storm, expert", *[(1, 1, 8)] * 4),
    ]
    item = fig9.item(runs, runs)
    assert [claim.judgement for claim in item.claims] == [Judgement.HOLDS] * 5
    expert = fig9.seen(runs[2])
    assert (expert.cores, expert.memory_mb) == pytest.approx((6.8, 4608.0))  # as Table III has it
    assert figure(item, "less CPU than expert degrees").spark == pytest.approx(100 * (1 - 2.6 / 6.8))
    assert figure(item, "Storm, minimal").spark == "congested"
    assert figure(item, "Storm, minimal: processed").spark == pytest.approx(25.0)  # 800 came
    assert figure(item, "AUTOSCALE: degree of the sink, highest").spark == 6


def test_a_line_whose_last_items_wait_no_longer_than_storm_has_patience_is_not_congested() -> None:
    """At 100 items a second, 150 come within its time-out on this scale."""
    assert fig9.seen(streamed("Storm, minimal", (1, 1, 1), waiting=151)).congested
    runs = [streamed(name, *[(1, 1, 2)] * 2, waiting=149) for name in fig9.TRIALS]
    runs[1] = streamed("AUTOSCALE", *[(1, 1, 2)] * 2)
    item = fig9.item(runs, runs)
    assert judgement(item, "AUTOSCALE grows") is Judgement.FAILS  # nothing waits, but two sinks are no growth
    assert judgement(item, "with minimal degrees") is Judgement.FAILS
    assert judgement(item, "it shrinks again") is Judgement.FAILS
    assert judgement(item, "less CPU and memory") is Judgement.FAILS
