"""Every table and figure can be asked for by name; the quick ones are run, and what they find is well formed."""

from __future__ import annotations

import pytest

from penstock.model import InvalidValueError
from penstock.papers.catalogue import items, paper_title, papers
from penstock.report.item import Claim, Item, Judgement, Row
from penstock.report.side_by_side import count_line, draw_chart, for_page


@pytest.mark.parametrize("paper", papers())
def test_every_paper_has_a_title_and_items_that_can_be_called(paper: str) -> None:
    assert paper_title(paper)
    assert items(paper)
    assert all(callable(experiment) for experiment in items(paper).values())


def test_the_case_study_claims_hold() -> None:
    item = items("autrascale", "fig2")["fig2"]()
    assert [claim.judgement for claim in item.claims] == [Judgement.HOLDS] * 3
    assert all(row.ratio == pytest.approx(1.0, rel=0.05) for row in item.rows)
    assert draw_chart(item.charts[0]).startswith(b"\x89PNG")


def test_an_item_that_is_not_there_is_named_with_its_nearest_neighbour() -> None:
    with pytest.raises(InvalidValueError, match="did you mean 'fig1'"):
        items("autrascale", "fig11")
    with pytest.raises(InvalidValueError, match="paper 'pspss' is not known"):
        items("pspss")


def test_a_page_shows_figures_claims_and_their_count() -> None:
    claims = (Claim.judged("more is more", True, "2 > 1"), Claim.judged("less is more", False, "noise"),
              Claim("all is one", Judgement.OPEN))  # fmt: skip
    item = Item("Table I", "one job, seed 0", (Row("rate", 200.0, 150.0, "records/s"), Row("met", "yes", "no")), claims)
    page = for_page(item, ["images/x.png"])
    assert "| rate | 200 | 150 | 0.75 | records/s |" in page
    assert "| met | yes | no |  |  |" in page
    assert "- ✗ **does not hold**: less is more (noise)" in page
    assert "![Table I](images/x.png)" in page
    assert count_line([item]) == "1 claims hold, 50% of those judged; 1 do not; 1 cannot be judged"
