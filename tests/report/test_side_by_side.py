"""Paper and Penstock side by side, on a page."""

from __future__ import annotations

from penstock.report.item import Item, Row
from penstock.report.side_by_side import count_line, for_page


def test_a_page_shows_figures_claims_and_their_count() -> None:
    claims = {"more is more": (True, "2 > 1"), "less is more": (False, "noise"), "all is one": (None, "")}
    rows = (Row("rate", 200.0, 150.0, "records/s"), Row("met", "yes", "no"))
    item = Item.of("Table I", "one job, seed 0", rows, claims)
    page = for_page(item, ["images/x.png"])
    assert "| rate | 200 | 150 | 0.75 | records/s |" in page
    assert "| met | yes | no |  |  |" in page
    assert "- ✗ **does not hold**: less is more (noise)" in page
    assert "![Table I](images/x.png)" in page
    assert count_line([item]) == "1 claims hold, 50% of those judged; 1 do not; 1 cannot be judged"


def test_a_page_sets_spark_beside_the_simulator() -> None:
    rows = (Row("rate", 350e3, 200.0, "records/s", spark=190.0), Row("plan", "(3, 4)", "(1, 2)", spark="(1, 2)"))
    page = for_page(Item.of("Table I", "one job", rows, {}), [])
    assert "| | paper | simulator | Spark | Spark / simulator | unit |" in page
    assert "| rate | 350,000 | 200 | 190 | 0.95 | records/s |" in page
    assert "| plan | (3, 4) | (1, 2) | (1, 2) |  |  |" in page
