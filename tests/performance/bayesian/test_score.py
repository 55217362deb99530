"""Scores that AuTraScale prints, and what a score means."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.performance.bayesian.score import benefit_score, score_threshold, throughput_score

WORDCOUNT, YAHOO = (3, 4, 12, 10), (4, 2, 1, 1, 34)


@pytest.mark.parametrize(
    ("base", "parallelism", "target_ms", "latency_ms", "printed", "digits"),
    [
        (WORDCOUNT, (7, 8, 12, 38), 180, 172, 0.9096, 4),
        (WORDCOUNT, (10, 16, 12, 10), 180, 160, 0.9275, 4),
        (YAHOO, (4, 2, 1, 1, 40), 300, 223.7, 0.994, 3),
        (YAHOO, (22, 2, 1, 1, 36), 300, 246, 0.965, 3),
    ],
)
def test_the_scores_of_tables_II_and_III(
    base: tuple[int, ...],
    parallelism: tuple[int, ...],
    target_ms: float,
    latency_ms: float,
    printed: float,
    digits: int,
) -> None:
    score = benefit_score(0.8, target_ms, latency_ms, base, parallelism)
    assert int(score * 10**digits + 0.5 + 1e-9) / 10**digits == pytest.approx(printed)


def test_the_threshold_of_the_evaluation() -> None:
    assert score_threshold(0.8, over_allocation_ratio=1.0) == 0.9


def test_the_base_within_its_latency_scores_one_and_over_allocation_by_w_the_threshold() -> None:
    assert benefit_score(0.8, 100, 80, (3, 4), (3, 4)) == 1.0
    assert benefit_score(0.8, 100, 80, (3, 4), (6, 8)) == pytest.approx(score_threshold(0.8, 1.0))


@given(latency=st.floats(1, 1e4), more=st.integers(1, 40), alpha=st.floats(0, 1))
def test_less_latency_and_less_parallelism_never_lower_a_score(latency: float, more: int, alpha: float) -> None:
    score = benefit_score(alpha, 180, latency, (2, 3), (2 + more, 3))
    assert benefit_score(alpha, 180, latency / 2, (2, 3), (2 + more, 3)) >= score
    assert benefit_score(alpha, 180, latency, (2, 3), (1 + more, 3)) >= score
    assert 0.0 <= score <= 1.0 + 1e-12


@given(v=st.floats(0, 1e6), target=st.floats(0, 1e6), beta=st.floats(1e-3, 1e6))
def test_a_throughput_scores_by_its_distance_to_the_target_on_either_side(v: float, target: float, beta: float) -> None:
    score = throughput_score(v, target, beta)
    assert 0.0 < score <= 1.0
    assert throughput_score(2 * target - v, target, beta) == pytest.approx(score)


def test_a_gap_of_beta_halves_the_score() -> None:
    assert throughput_score(150, target=100, beta=50) == 0.5
