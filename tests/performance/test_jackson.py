"""Erlang and Jackson: closed forms, large numbers, and one step instead of k."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammaincc, gammaln

from penstock.performance import queueing
from penstock.performance.jackson import Station, mean_sojourn, stable_instances


def erlang_b_by_log_gamma(k: int, a: float) -> float:
    """a^k / k! over the sum of a^n / n! for n to k: that sum is e^a times the regularised gamma function."""
    return math.exp(k * math.log(a) - gammaln(k + 1) - a - math.log(gammaincc(k + 1, a)))


@pytest.mark.parametrize(("k", "a"), [(13, 12.5), (171, 170.0), (500, 350.0), (5000, 4990.0), (5000, 4999.9)])
def test_erlang_b_agrees_with_the_log_gamma_form_where_factorials_overflow(k: int, a: float) -> None:
    assert queueing.erlang_b(k, a) == pytest.approx(erlang_b_by_log_gamma(k, a), rel=1e-9)
    assert 0 < queueing.erlang_c(k, a, queueing.erlang_b(k, a)) < 1


def test_one_instance_is_the_m_m_1_of_the_textbook() -> None:
    assert Station.of(1, 9.0, 10.0).sojourn == pytest.approx(1 / (10 - 9))
    assert mean_sojourn({"only": Station.of(1, 9.0, 10.0)}, entering=9.0) == pytest.approx(1.0)


def test_a_record_spends_time_at_each_operator_as_often_as_it_visits_it() -> None:
    split = Station.of(2, 100.0, 80.0)  # T = 1 / (80 * (1 - 0.625^2))
    count = Station.of(1, 400.0, 500.0)  # four words in each sentence, T = 1 / (500 - 400)
    assert split.sojourn == pytest.approx(1 / (80 * (1 - 0.625**2)))
    assert mean_sojourn({"split": split, "count": count}, 100.0) == pytest.approx(split.sojourn + 4 * 0.01)


def test_an_operator_that_nothing_reaches_adds_nothing_and_a_full_one_adds_eternity() -> None:
    assert mean_sojourn({"idle": Station.of(1, 0.0, 1.0), "busy": Station.of(1, 1.0, 2.0)}, 1.0) == pytest.approx(1)
    assert mean_sojourn({"full": Station.of(2, 4.0, 2.0)}, 4.0) == math.inf
    assert mean_sojourn({"idle": Station.of(1, 0.0, 1.0)}, 0.0) == 0.0


@given(st.integers(1, 300), st.floats(0.01, 250), st.floats(0.01, 100))
def test_growing_step_by_step_ends_where_a_fresh_start_does(k: int, a: float, service_rate: float) -> None:
    arrival_rate = a * service_rate
    grown = Station.of(k, arrival_rate, service_rate).grown()
    assert grown == Station.of(k + 1, arrival_rate, service_rate)


@given(st.floats(0, 1e4), st.floats(0.01, 100))
def test_the_smallest_stable_number_keeps_up_and_one_less_does_not(arrival_rate: float, service_rate: float) -> None:
    k = stable_instances(arrival_rate, service_rate)
    assert k * service_rate > arrival_rate
    assert k == 1 or (k - 1) * service_rate <= arrival_rate * (1 + 1e-6) + 1e-6


@given(st.floats(0.05, 60))
def test_each_further_instance_saves_less_time_than_the_one_before(a: float) -> None:
    first = stable_instances(a, 1.0)
    stations = [Station.of(k, a, 1.0) for k in range(first, first + 12)]
    saved = [before.wait - after.wait for before, after in pairwise(stations)]
    assert all(later <= earlier * (1 + 1e-9) for earlier, later in pairwise(saved))
