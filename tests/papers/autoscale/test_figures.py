"""AUTOSCALE's figures: what the paper says of them, and what does not hold here, stays so."""

from __future__ import annotations

import pytest

from penstock.papers.autoscale.runs import seen
from penstock.papers.catalogue import items
from penstock.report.item import Item
from penstock.report.judging import Judgement
from penstock.report.side_by_side import draw_chart


def judgements(item: Item) -> list[Judgement]:
    return [claim.judgement for claim in item.claims]


def ours(item: Item, label: str) -> float:
    figure = next(row.ours for row in item.rows if row.label == label)
    assert isinstance(figure, float)
    return figure


def test_the_line_from_minimal_and_from_expert_degrees() -> None:
    item = items("autoscale", "fig9")["fig9"]()
    assert judgements(item) == [Judgement.HOLDS] * 6
    assert ours(item, "(b) AUTOSCALE, mean latency") > 2 * ours(item, "(b) Storm, mean latency")  # the rise is no mean
    assert next(row for row in item.rows if "supervisors" in row.label).ours == "3, 1"
    assert ours(item, "(b) less CPU") == pytest.approx(37.5, abs=5.0)
    assert ours(item, "(b) less memory") == pytest.approx(37.5, abs=5.0)
    assert draw_chart(item.charts[0]).startswith(b"\x89PNG")


def test_sudden_peaks_congest_storm_but_not_autoscale() -> None:
    item = items("autoscale", "fig10")["fig10"]()
    assert judgements(item) == [Judgement.HOLDS] * 4


def test_the_advertising_job_from_minimal_and_from_latency_only_degrees() -> None:
    item = items("autoscale", "fig12")["fig12"]()
    assert judgements(item) == [Judgement.HOLDS] * 4
    assert 0 < ours(item, "(a) more memory than needed") < ours(item, "(a) more CPU than needed") <= 12.0


def test_a_job_that_never_changes_claims_what_its_degrees_say() -> None:
    """One spout, one intermediate and eight sinks: 0.2 + 0.2 + 8 * 0.8 cores, 256 + 256 + 8 * 512 MB."""
    storm = seen("linear", "storm_default", expert=True)
    assert storm.cores == pytest.approx(6.8)
    assert storm.memory == pytest.approx(4608.0)
    assert storm.most("sink") == 8
    assert not storm.congested
