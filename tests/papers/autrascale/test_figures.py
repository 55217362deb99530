"""What holds of AuTraScale goes on to hold; what does not is listed, so that a change is noticed."""

from __future__ import annotations

from statistics import fmean

import pytest

from penstock.papers.autrascale.decision_time import Problem
from penstock.papers.autrascale.elasticity import PAPER, ending
from penstock.papers.autrascale.rate_change import ds2_offline
from penstock.papers.catalogue import items
from penstock.report.judging import Judgement

FAILS: dict[str, set[int]] = {
    "fig1": set(),
    "fig5": set(),
    "table2": {3},  # the paper's latencies scatter
    "table3": {3},
    "fig6": set(),
    "fig7": {0, 1},  # exact true rates make DRS frugal
}


@pytest.mark.parametrize("name", FAILS)
def test_the_claims_that_fail_are_those_known_to(name: str) -> None:
    item = items("autrascale", name)[name]()
    assert item.rows
    assert {n for n, claim in enumerate(item.claims) if claim.judgement is Judgement.FAILS} == FAILS[name]
    assert all(claim.why for claim in item.claims)


def test_yahoo_scales_up_to_the_very_plan_of_table_three() -> None:
    found = ending("yahoo", "up", "AuTraScale")
    assert found.plan == (4, 2, 1, 1, 40)
    assert found.score == pytest.approx(0.994)
    assert found.iterations == 1


def test_ds2_ends_at_the_least_that_keeps_up_and_misses_the_latency() -> None:
    found = ds2_offline("nexmark_q11", 100e3, "150 ms", 0)
    assert found.plan == (1, 11)
    assert not found.meets


def test_the_timed_problem_is_the_same_every_time() -> None:
    assert Problem.make(4) == Problem.make(4)
    assert len(Problem.make(4).fresh) == 3


@pytest.mark.parametrize(("kind", "printed"), [("up", 0.367), ("down", 0.666)])
def test_what_autrascale_saves_is_counted_as_the_paper_counts_it(kind: str, printed: float) -> None:
    """From the plans of Tables II and III, and in no other way, its two percentages follow."""

    def total(job: str, method: str) -> int:
        return sum(PAPER[job, kind, method][0])

    found = fmean(
        1 - total(job, "AuTraScale") / fmean((total(job, "DRS observed"), total(job, "DRS true")))
        for job in ("wordcount", "yahoo")
    )
    assert found == pytest.approx(printed, abs=5e-4)
