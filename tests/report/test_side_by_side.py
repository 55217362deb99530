"""Paper and Penstock side by side, on a page."""

from __future__ import annotations

from penstock.report.bands import BANDS, CHANGE
from penstock.report.item import Item, Row
from penstock.report.judging import Judgement, agrees, calibrated, theirs, unless, verdict
from penstock.report.side_by_side import bands_for_page, count_line, for_page


def test_a_page_shows_figures_claims_and_their_count() -> None:
    claims = {"more is more": (True, "2 > 1"), "less is more": (False, "noise"), "all is one": (None, "")}
    rows = (Row("rate", 200.0, 150.0, "records/s"), Row("met", "yes", "no"))
    item = Item.of("Table I", "one job, seed 0", rows, claims)
    page = for_page(item, ["images/x.png"])
    assert "| rate | 200 | 150 | 0.75 | records/s |" in page
    assert "| met | yes | no |  |  |" in page
    assert "- ✗ **does not hold**: less is more (noise; cause not found out)" in page
    assert "![Table I](images/x.png)" in page
    assert count_line([item]) == (
        "1 claims hold, 50% of those judged; 0 hold by calibration; 1 do not (cause not found out 1); "
        "1 cannot be judged"
    )


def test_what_was_calibrated_is_shown_and_not_counted_as_holding() -> None:
    rows = (Row("rate", 200.0, 200.0, "records/s", calibrated=True), Row("latency", 100.0, 90.0, "ms"))
    claims = {
        "200 a second": calibrated((True, "200"), "service time"),
        "300 a second": calibrated((False, "250"), "service time"),
        "saves 9.3 %": unless(agrees(-0.057, 0.093, CHANGE, ".1%"), theirs("a typing error")),
    }
    item = Item.of("Table I", "one job, seed 0", rows, claims)
    page = for_page(item, [])
    assert "| | paper | ours | ratio | calibrated | unit |" in page
    assert "| rate | 200 | 200 | 1.00 | yes | records/s |" in page
    assert "| latency | 100 | 90 | 0.90 |  | ms |" in page
    assert "- = **holds by calibration**: 200 a second (200; calibrated: service time)" in page
    assert "(within 5 points, or a tenth of it; -5.7% against 9.3%; cause theirs: a typing error)" in page
    assert count_line([item]) == (
        "0 claims hold, 0% of those judged; 1 hold by calibration; 2 do not (cause theirs 1, not found out 1); "
        "0 cannot be judged"
    )


def test_a_band_has_two_sides_and_stands_on_the_page() -> None:
    assert [CHANGE.agrees(ours, 0.2) for ours in (0.14, 0.15, 0.25, 0.26)] == [False, True, True, False]
    assert verdict((None, "no such cluster")).judgement is Judgement.OPEN
    assert all(f"| {band.kind} | {band.covers} | {band.words} |" in bands_for_page() for band in BANDS)


def test_a_page_sets_spark_beside_the_simulator() -> None:
    rows = (Row("rate", 350e3, 200.0, "records/s", spark=190.0), Row("plan", "(3, 4)", "(1, 2)", spark="(1, 2)"))
    page = for_page(Item.of("Table I", "one job", rows, {}), [])
    assert "| | paper | simulator | Spark | Spark / simulator | unit |" in page
    assert "| rate | 350,000 | 200 | 190 | 0.95 | records/s |" in page
    assert "| plan | (3, 4) | (1, 2) | (1, 2) |  |  |" in page
