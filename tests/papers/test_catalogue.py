"""Every table and figure can be asked for by name; a quick one is run, and what it finds is well formed."""

from __future__ import annotations

import pytest

from penstock.model import InvalidValueError
from penstock.papers.catalogue import PAPERS, items, items_on_spark, paper_title, papers_on_spark
from penstock.report.judging import Judgement
from penstock.report.side_by_side import draw_chart


@pytest.mark.parametrize("paper", PAPERS)
def test_every_paper_has_a_title_and_items_that_can_be_called(paper: str) -> None:
    assert paper_title(paper)
    assert items(paper)
    assert all(callable(experiment) for experiment in items(paper).values())


def test_the_case_study_claims_hold_by_calibration() -> None:
    item = items("autrascale", "fig2")["fig2"]()
    assert [claim.judgement for claim in item.claims] == [Judgement.CALIBRATED] * 3
    assert all(row.ratio == pytest.approx(1.0, rel=0.05) for row in item.rows)
    assert draw_chart(item.charts[0]).startswith(b"\x89PNG")


def test_an_item_that_is_not_there_is_named_with_its_nearest_neighbour() -> None:
    with pytest.raises(InvalidValueError, match="did you mean 'fig1'"):
        items("autrascale", "fig11")
    with pytest.raises(InvalidValueError, match="paper 'pspss' is not known"):
        items("pspss")


def test_what_runs_on_spark_is_asked_for_by_paper_and_item() -> None:
    assert papers_on_spark() == ["autoscale", "autrascale", "autrascale_plus", "dp_stream", "psps"]
    assert list(items_on_spark("autrascale_plus")) == ["table4", "fig11"]
    assert list(items_on_spark("psps", "table8")) == ["table8"]
    with pytest.raises(InvalidValueError, match="did you mean 'fig11'"):
        items_on_spark("autrascale_plus", "fig1")
    with pytest.raises(InvalidValueError, match="paper on Spark 'psp' is not known"):
        items_on_spark("psp")
