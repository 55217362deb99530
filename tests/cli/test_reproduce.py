"""`penstock reproduce`: what is asked for wrongly is refused before anything starts."""

from __future__ import annotations

import pytest

from command_line import Command


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--on", "nowhere"), "on 'nowhere' is not known. There is: simulator, spark"),
        (("--on", "spark", "psp"), "paper on Spark 'psp' is not known"),
        (("--on", "spark", "psps", "table9"), "item of psps on Spark 'table9' is not known; did you mean 'table8'"),
        (("psps", "table99"), "item of psps 'table99' is not known"),
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
