"""Dp-Stream's table and figures: what the paper says of them, and what does not hold here, stays so."""

from __future__ import annotations

import pytest

from penstock.papers.catalogue import items, workload
from penstock.papers.dp_stream.fig2 import latencies
from penstock.papers.dp_stream.table3 import MAE, MRE, RMSE, TABLE_3, Score, independent, predicted, smooth
from penstock.papers.dp_stream.workloads import walk
from penstock.papers.traces import over_traces
from penstock.report.item import Item
from penstock.report.judging import Judgement

HOLDS, FAILS, CALIBRATED = Judgement.HOLDS, Judgement.FAILS, Judgement.CALIBRATED


def judgements(item: Item) -> list[Judgement]:
    return [claim.judgement for claim in item.claims]


def test_the_network_is_better_than_printed_on_a_smooth_rate_and_far_worse_on_an_independent_one() -> None:
    item = items("dp_stream", "table3")["table3"]()
    assert judgements(item) == [FAILS, FAILS, CALIBRATED, HOLDS, FAILS]
    assert isinstance(item.rows[0].ours, float)
    assert item.rows[0].ours < MAE
    assert [row.paper for row in item.rows[:3]] == [MAE, RMSE, MRE]
    assert [row.paper for row in item.rows[3:7]] == pytest.approx([0.0219, 0.0372, 0.0395, 0.0361], abs=5e-5)


def test_errors_are_averages_over_all_pairs() -> None:
    score = Score(((1, 90.0, 100.0), (2, 130.0, 100.0)))
    assert (score.mae, score.at(2).mae) == (20.0, 30.0)
    assert score.mre == pytest.approx(0.2)
    assert score.rmse == pytest.approx(500**0.5)


def test_the_four_pairs_that_are_printed_are_not_all_that_the_errors_were_taken_over() -> None:
    score = Score(tuple((second, *pair) for second, pair in TABLE_3.items()))
    assert score.mae == 71.75 != MAE


def test_a_rate_predicted_as_the_last_one_misses_by_its_steps() -> None:
    """On the smooth stream the steps are small; on the independent one a third of the range on average."""
    assert predicted(smooth, "last").mae < 100.0
    assert predicted(independent, "last").mae == pytest.approx(2000.0 / 3.0, rel=0.2)
    last = predicted(smooth, "last", in_one_go=True)
    assert len({answer for _, answer, _ in last.pairs}) == 5  # one for each stream: nothing was learnt on the way


def test_scheduling_ahead_lowers_the_latency_of_wordcount() -> None:
    item = items("dp_stream", "fig2")["fig2"]()
    assert judgements(item) == [CALIBRATED, HOLDS, FAILS, HOLDS, HOLDS, CALIBRATED, FAILS]
    later = next(row.ours for row in item.rows if "omega 0.9" in row.label)
    assert isinstance(later, float)
    assert 1 - later / 4.49 < 0.513 < 1 - 1.77 / 4.49  # the cause that it prints: the bound that we chose decides
    assert item.rows[1].ratio == pytest.approx(1.0, abs=0.1)  # what the job is calibrated by


def test_prediction_lowers_the_latency_in_most_streams_at_hardly_more_instances() -> None:
    ahead, behind = latencies("dp_wordcount", "dp_stream"), latencies("dp_wordcount", "dp_stream", forecaster="last")
    pairs = list(zip(ahead.results, behind.results, strict=True))
    better = sum((a.processing_latency_ms.mean or 0.0) < (b.processing_latency_ms.mean or 0.0) for a, b in pairs)
    assert better > len(pairs) / 2
    assert all(a.mean_parallelism < 1.05 * b.mean_parallelism for a, b in pairs)


def test_top_n_gains_as_well_with_the_last_rate_for_a_prediction() -> None:
    """Fig. 3 without the network, whose training and memory take most of its time."""
    streams = [walk(seed) for seed in (0, 1)]
    scheduled, storm = (
        over_traces(workload("dp_top_n"), streams, policy, options, interval="1 s")
        for policy, options in (("dp_stream", {"forecaster": "last"}), ("storm_default", None))
    )
    pairs = list(zip(scheduled.results, storm.results, strict=True))
    for ours, theirs in pairs:
        assert ours.processing_latency_ms.mean is not None
        assert theirs.processing_latency_ms.mean is not None
        assert ours.processing_latency_ms.mean < 0.75 * theirs.processing_latency_ms.mean
        assert ours.processed_ratio == theirs.processed_ratio == 1.0
