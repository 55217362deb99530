"""AUTOSCALE's figures: what the paper says of them, and what does not hold here, stays so."""

from __future__ import annotations

from collections import Counter

import pytest

from penstock.papers.autoscale.runs import seen
from penstock.papers.catalogue import items
from penstock.report.item import Item
from penstock.report.judging import Judgement
from penstock.report.side_by_side import draw_chart


def judged(item: Item) -> dict[Judgement, int]:
    return dict(Counter(claim.judgement for claim in item.claims))


def reproduced(name: str) -> Item:
    return items("autoscale", name)[name]()


def ours(item: Item, label: str) -> float:
    figure = next(row.ours for row in item.rows if row.label == label)
    assert isinstance(figure, float)
    return figure


def test_the_line_from_minimal_and_from_expert_degrees() -> None:
    item = reproduced("fig9")
    assert judged(item) == {Judgement.HOLDS: 5, Judgement.CALIBRATED: 3}
    assert ours(item, "(b) AUTOSCALE, mean latency") > 2 * ours(item, "(b) Storm, mean latency")  # the rise is no mean
    assert next(row for row in item.rows if "supervisors" in row.label).ours == "3, 1"
    assert ours(item, "(a) Storm, dephased") > 1e6
    assert ours(item, "(a) AUTOSCALE, dephased") == ours(item, "(b) AUTOSCALE, dephased") == 0.0
    assert draw_chart(item.charts[0]).startswith(b"\x89PNG")


def test_sudden_peaks_congest_storm_but_not_autoscale() -> None:
    item = reproduced("fig10")
    assert judged(item) == {Judgement.HOLDS: 3, Judgement.CALIBRATED: 1}
    assert ours(item, "first scale-out after the second peak") <= 20.0  # it decides with every measurement


def test_the_advertising_job_from_minimal_and_from_latency_only_degrees() -> None:
    """It saves more than half of eight of each slow operator, and about half of four."""
    item = reproduced("fig12")
    assert judged(item) == {Judgement.HOLDS: 2, Judgement.CALIBRATED: 2, Judgement.FAILS: 2}
    assert 0 < ours(item, "(a) more memory than needed") < ours(item, "(a) more CPU than needed") <= 12.0
    assert ours(item, "(b) less CPU, from four of each slow operator") == pytest.approx(50.0, abs=10.0)


def test_global_consistency_and_combine_change_decisions() -> None:
    item = reproduced("consistency")
    assert ours(item, "decisions in which a GAL differs from its LAL, under max") > 0
    assert ours(item, "sinks after that decision, max") > ours(item, "sinks after that decision, min")
    assert ours(item, "dephased, max") < ours(item, "dephased, min")
    assert ours(item, "CPU claimed, max") > ours(item, "CPU claimed, min")
    assert ours(item, "changes, 5-step, min") == ours(item, "changes, 5-step, max")
    assert ours(item, "changes, restless, min") > ours(item, "changes, restless, max")  # the cause that it prints


def test_a_job_that_never_changes_claims_what_its_degrees_say() -> None:
    """One spout, one intermediate and eight sinks: 0.2 + 0.2 + 8 * 0.8 cores, 256 + 256 + 8 * 512 MB."""
    storm = seen("linear", "storm_default", expert=True)
    assert storm.cores == pytest.approx(6.8)
    assert storm.memory == pytest.approx(4608.0)
    assert storm.most("sink") == 8
    assert not storm.congested
