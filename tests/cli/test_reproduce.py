"""`penstock reproduce`: what is asked for wrongly is refused before anything starts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from command_line import Command
from penstock.papers.kept import KeptItems


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--on", "nowhere"), "on 'nowhere' is not known. There is: simulator, spark"),
        (("--on", "spark", "psp"), "paper on Spark 'psp' is not known"),
        (("--on", "spark", "psps", "table9"), "item of psps on Spark 'table9' is not known; did you mean 'table8'"),
        (("psps", "table99"), "item of psps 'table99' is not known"),
        (("psps", "--kept"), "--kept needs the folder that --results names"),
    ],
)
def test_what_is_not_there_is_refused_in_one_sentence(
    penstock: Command, arguments: tuple[str, ...], complaint: str
) -> None:
    assert penstock("reproduce", *arguments).complaint.startswith(complaint)


def test_figures_go_to_standard_output_and_progress_beside_them(penstock: Command) -> None:
    outcome = penstock("reproduce", "autrascale", "fig2")
    assert outcome.code == 0
    assert outcome.out.strip().endswith("0 claims hold; 3 hold by calibration; 0 do not; 0 cannot be judged")
    assert outcome.err == "penstock: autrascale fig2\n"


def test_what_is_kept_is_shown_and_not_run_again(penstock: Command, tmp_path: Path) -> None:
    first = penstock("reproduce", "autrascale", "fig2", "--results", str(tmp_path))
    assert first.err == "penstock: autrascale fig2\n"
    kept = KeptItems(tmp_path)
    found = kept.get("autrascale", "fig2")
    assert found is not None
    kept.put("autrascale", "fig2", replace(found, setting="of this test"))
    page = tmp_path / "page.md"
    again = penstock("reproduce", "autrascale", "fig2", "--results", str(tmp_path), "--page", str(page))
    assert again.err == ""
    assert "of this test" in again.out
    assert "of this test" in page.read_text()


def test_with_kept_nothing_is_run_and_what_is_missing_is_named(penstock: Command, tmp_path: Path) -> None:
    penstock("reproduce", "autrascale", "fig2", "--results", str(tmp_path))
    page = tmp_path / "page.md"
    shown = penstock("reproduce", "autrascale", "--results", str(tmp_path), "--kept", "--page", str(page))
    assert shown.err == ""
    assert "AuTraScale, Fig. 2" in shown.out
    assert "Not run: autrascale fig1, autrascale fig5" in " ".join(shown.out.split())
    assert "Not run: autrascale fig1, autrascale fig5" in page.read_text()
