"""What an experiment found is kept, comes back as it was, and is not run again."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.model import PenstockError
from penstock.papers.kept import KeptItems
from penstock.report.bands import LATENCY
from penstock.report.item import Chart, Item, Row, Series
from penstock.report.judging import agrees, calibrated, theirs, unless

ITEM = Item.of(
    title="AuTraScale, Fig. 2",
    setting="of this test",
    rows=(Row("plan", "(3, 4)", "(2, 4)", spark="(2, 5)"), Row("latency", 180.0, None, "ms", calibrated=True)),
    claims={
        "it holds": calibrated((True, "by far"), "service times"),
        "it agrees": unless(agrees(250.0, 180.0, LATENCY), theirs("their clock")),
        "nobody knows": (None, "not measured"),
    },
    charts=(Chart("Fig. 2", "s", "ms", (Series("ours", (0.0, 1.0), (2.0, 3.5)),)),),
)


def test_an_item_comes_back_as_it_was(tmp_path: Path) -> None:
    kept = KeptItems(tmp_path / "new")
    assert kept.get("autrascale", "fig2") is None
    kept.put("autrascale", "fig2", ITEM)
    assert kept.get("autrascale", "fig2") == ITEM
    assert kept.get("autrascale", "fig1") is None


def test_a_file_that_is_no_item_is_named(tmp_path: Path) -> None:
    (tmp_path / "psps-table8.json").write_text('{"title": 3}')
    with pytest.raises(PenstockError, match=r"psps-table8\.json cannot be read, delete it to run the item again"):
        KeptItems(tmp_path).get("psps", "table8")
