"""What holds of AuTraScale+ goes on to hold; what does not is listed, so that a change is noticed."""

from __future__ import annotations

import pytest

from penstock.papers.autrascale_plus.event_latency import drained
from penstock.papers.catalogue import items
from penstock.report.judging import Judgement

FAILS: dict[str, set[int]] = {"fig4": set(), "fig5": set(), "fig7": set()}


@pytest.mark.parametrize("name", FAILS)
def test_the_claims_that_fail_are_those_known_to(name: str) -> None:
    item = items("autrascale_plus", name)[name]()
    assert item.rows
    assert {n for n, claim in enumerate(item.claims) if claim.judgement is Judgement.FAILS} == FAILS[name]
    assert all(claim.why for claim in item.claims)


def test_a_backlog_of_six_million_goes_in_time_with_fewer_instances_than_by_doubling() -> None:
    plus, exponent = (drained(method, 6_000_000, 500, 6) for method in ("autrascale_plus", "exponent"))
    assert plus.in_time
    assert exponent.in_time
    assert plus.total < exponent.total
