"""When a search of AuTraScale ends, and with what."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.model import ReasonCode
from penstock.performance.bayesian.rate_library import Measurement, RateRecord
from penstock.performance.bayesian.search_space import Configuration, SearchSpace
from penstock.policies._latency_search import LatencySearch
from penstock.policies.autrascale import AuTraScale


def search(measured: dict[Configuration, Measurement], cap: float | None = None, **changes: Any) -> LatencySearch:
    record = RateRecord(100.0, base=(2, 2), attainable=cap, measured=dict(measured))
    options = AuTraScale(**{"uniform_samples": 3, "max_iterations": 5, **changes})
    return LatencySearch(record, SearchSpace((2, 2), (8, 8)), target_ms=50.0, options=options)


def kept_up(latency_ms: float) -> Measurement:
    return Measurement(100.0, 100.0, latency_ms)


def test_a_configuration_in_force_that_does_is_kept_though_a_better_one_is_known() -> None:
    proposal = search({(2, 3): kept_up(45.0), (3, 4): kept_up(40.0)}).settle((3, 4), ())
    assert proposal is not None
    assert (proposal.configuration, proposal.code) == ((3, 4), ReasonCode.STEADY)


def test_from_one_that_does_not_the_way_leads_to_the_best_known() -> None:
    known: dict[Configuration, Measurement] = {(2, 3): kept_up(45.0), (3, 4): kept_up(40.0), (2, 2): kept_up(90.0)}
    proposal = search(known).settle((2, 2), ())
    assert proposal is not None
    assert (proposal.configuration, proposal.code) == ((2, 3), ReasonCode.RESTORE)
    refused = search(known).settle((2, 2), refused=[(2, 3)])
    assert refused is not None
    assert refused.configuration == (3, 4)


@pytest.mark.parametrize(
    ("measurement", "ends"),
    [
        (kept_up(50.0), True),
        (kept_up(50.1), False),  # too slow, though its score is 0.99
        (Measurement(100.0, 98.0, 40.0), False),  # does not keep up
        (Measurement(105.0, 104.0, 40.0), True),  # the rate wavers, the job follows
        (Measurement(100.0, 100.0, None), False),
    ],
)
def test_the_end_needs_latency_throughput_and_score_at_once(measurement: Measurement, ends: bool) -> None:
    assert (search({(2, 2): measurement}).settle((2, 2), ()) is not None) is ends


def test_waste_is_no_end() -> None:
    assert search({(4, 4): kept_up(10.0)}).settle((4, 4), ()) is not None  # 0.8 + 0.2 / 2
    assert search({(4, 5): kept_up(10.0)}).settle((4, 5), ()) is None


@pytest.mark.parametrize(("throughput", "ends"), [(60.0, True), (57.5, True), (56.0, False)])
def test_of_a_job_capped_from_outside_no_more_is_asked_than_its_base_reached(throughput: float, ends: bool) -> None:
    capped = search({(2, 2): Measurement(100.0, throughput, 40.0)}, cap=60.0)
    assert (capped.settle((2, 2), ()) is not None) is ends


def test_a_spent_budget_ends_with_a_plan_that_meets_the_latency_before_one_of_a_higher_score() -> None:
    known: dict[Configuration, Measurement] = {(2, 2): kept_up(55.0), (8, 8): kept_up(40.0), (2, 8): kept_up(99.0)}
    best = search(known, max_iterations=0, uniform_samples=1).settle((2, 2), ())
    assert best is not None
    assert best.figures["phase"] == "exhausted"
    assert best.configuration == (8, 8)


def test_scores_are_those_of_the_own_base_upwards() -> None:
    scored = search({(1, 9): kept_up(40.0), (2, 2): kept_up(40.0), (2, 4): kept_up(100.0)}).scores()
    assert scored == {(2, 2): pytest.approx(1.0), (2, 4): pytest.approx(0.4 + 0.2 * 0.75)}


def test_a_record_can_teach_once_it_says_something_along_every_operator() -> None:
    here, other = search({}), RateRecord(80.0, base=(2, 2))
    for k in ((2, 2), (8, 2)):
        other.measure(k, kept_up(60.0))
    assert not here.can_teach(other)
    other.measure((2, 8), kept_up(60.0))
    assert here.can_teach(other)
    other.base = None
    assert not here.can_teach(other)
