"""What holds of AuTraScale+ goes on to hold; what does not is listed, so that a change is noticed."""

from __future__ import annotations

import pytest

from penstock.papers.autrascale.rate_change import arrival
from penstock.papers.autrascale_plus.event_latency import drained
from penstock.papers.autrascale_plus.fig10 import TABLE_5, TRANSFERS
from penstock.papers.catalogue import items
from penstock.report.judging import Judgement

FAILS: dict[str, set[int]] = {"fig4": set(), "fig5": set()}


@pytest.mark.parametrize("name", FAILS)
def test_the_claims_that_fail_are_those_known_to(name: str) -> None:
    item = items("autrascale_plus", name)[name]()
    assert item.rows
    assert {n for n, claim in enumerate(item.claims) if claim.judgement is Judgement.FAILS} == FAILS[name]
    assert all(claim.why for claim in item.claims)


def test_with_real_samples_at_the_new_rate_one_plan_is_enough_for_yahoo_and_the_lightweight_one_is_smaller() -> None:
    """The cause that Fig. 10 prints: with the plan in force as its only sample a transfer takes several."""
    old, light = (arrival(*TABLE_5["Yahoo"], policy, 0, sampled=True) for policy in TRANSFERS.values())
    assert (old.iterations, light.iterations) == (1, 1)
    assert old.meets
    assert light.meets
    assert sum(light.plan) < sum(old.plan)
    assert arrival(*TABLE_5["Yahoo"], "autrascale_plus", 0).iterations > 1


@pytest.mark.parametrize(("backlog", "minutes"), [(6_000_000, 6), (16_000_000, 6)])
def test_from_all_ones_a_backlog_is_drained_within_its_limit_and_the_plan_goes_back(backlog: int, minutes: int) -> None:
    """Without the restart in V the second is late."""
    found = drained("autrascale_plus", backlog, 500, minutes)
    assert found.in_time
    assert found.calm is not None
    assert found.changes == 3  # to what keeps up, to what drains, and back


def test_a_simpler_method_runs_in_the_same_loop() -> None:
    found = drained("exponent", 6_000_000, 500, 6)
    assert found.plan == tuple(min(2 * k, 40) for k in found.steady)
    assert found.in_time


def test_proportion_is_in_time_because_it_rounds_up() -> None:
    """The cause that Fig. 11 prints."""
    condition = (12_000_000, 500, 8)
    assert drained("proportion", *condition).in_time
    assert not drained("proportion", *condition, nearest=True).in_time
