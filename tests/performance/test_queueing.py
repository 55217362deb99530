"""Erlang's formulas against the textbook, brute force and the laws of waiting."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.performance import queueing
from penstock.performance.jackson import Station
from penstock.performance.queueing import erlang_b

INSTANCES = st.integers(1, 60)
LOADS = st.floats(0.01, 80)


def erlang_c(k: int, a: float) -> float:
    return queueing.erlang_c(k, a, erlang_b(k, a))


def mean_wait(k: int, arrival_rate: float, service_rate: float) -> float:
    return Station.of(k, arrival_rate, service_rate).wait


def mean_sojourn(k: int, arrival_rate: float, service_rate: float) -> float:
    return Station.of(k, arrival_rate, service_rate).sojourn


@pytest.mark.parametrize(
    ("k", "a", "blocked"),
    [(1, 1.0, 1 / 2), (2, 1.0, 1 / 5), (3, 2.0, 4 / 19), (5, 3.0, 0.11005), (10, 5.0, 0.01838), (20, 15.0, 0.04559)],
)
def test_erlang_b_agrees_with_the_tables(k: int, a: float, blocked: float) -> None:
    assert erlang_b(k, a) == pytest.approx(blocked, abs=5e-6)


@pytest.mark.parametrize(("k", "a", "waits"), [(1, 0.7, 0.7), (2, 1.0, 1 / 3), (3, 2.0, 4 / 9), (5, 4.0, 0.5541)])
def test_erlang_c_agrees_with_the_tables(k: int, a: float, waits: float) -> None:
    assert erlang_c(k, a) == pytest.approx(waits, abs=5e-5)


@given(k=st.integers(1, 20), load=st.floats(0.01, 0.99))
def test_erlang_c_is_the_textbook_sum(k: int, load: float) -> None:
    a = load * k
    waiting = a**k / math.factorial(k) / (1 - load)
    served = sum(a**n / math.factorial(n) for n in range(k))
    assert erlang_c(k, a) == pytest.approx(waiting / (served + waiting), rel=1e-9)


@given(k=st.integers(1, 6), load=st.floats(0.05, 0.8))
def test_the_wait_is_that_of_the_chain_itself(k: int, load: float) -> None:
    # Solve the birth-death chain of M/M/k state by state and apply Little's law to those who queue.
    arrival, service = load * k, 1.0
    weights = [1.0]
    for n in range(1, 400):
        weights.append(weights[-1] * arrival / (service * min(n, k)))
    queued = sum(max(0, n - k) * weight for n, weight in enumerate(weights)) / sum(weights)
    assert mean_wait(k, arrival, service) == pytest.approx(queued / arrival, rel=1e-6)


def test_thousands_of_instances_neither_overflow_nor_vanish() -> None:
    k, a = 5000, 4990.0
    logs = [n * math.log(a) - math.lgamma(n + 1) for n in range(k + 1)]
    served = sum(math.exp(each - logs[k]) for each in logs[:k])  # in units of a^k / k!
    waiting = 1 / (1 - a / k)
    assert erlang_c(k, a) == pytest.approx(waiting / (served + waiting), rel=1e-9)
    assert mean_wait(k, a, 1.0) == pytest.approx(erlang_c(k, a) / 10)
    assert erlang_c(5000, 10.0) == 0.0


@given(k=INSTANCES, a=LOADS)
def test_chances_are_chances(k: int, a: float) -> None:
    assert 0 <= erlang_b(k, a) <= erlang_c(k, a) <= 1


@given(k=INSTANCES, a=LOADS)
def test_one_more_instance_never_makes_anyone_wait_longer(k: int, a: float) -> None:
    assert erlang_b(k + 1, a) <= erlang_b(k, a)
    assert erlang_c(k + 1, a) <= erlang_c(k, a)
    assert mean_wait(k + 1, a, 1.0) <= mean_wait(k, a, 1.0)


@given(k=INSTANCES, a=LOADS, more=st.floats(1, 3))
def test_more_load_never_makes_anyone_wait_less(k: int, a: float, more: float) -> None:
    assert erlang_c(k, a * more) >= erlang_c(k, a) - 1e-12
    assert mean_wait(k, a * more, 1.0) >= mean_wait(k, a, 1.0) - 1e-12


@given(k=INSTANCES, arrival=st.floats(0.1, 50), service=st.floats(0.1, 50), unit=st.floats(0.01, 100))
def test_the_unit_of_time_does_not_matter(k: int, arrival: float, service: float, unit: float) -> None:
    there = mean_sojourn(k, arrival * unit, service * unit) * unit
    assert there == pytest.approx(mean_sojourn(k, arrival, service), rel=1e-6)


def test_a_single_instance_is_the_textbook_queue() -> None:
    assert mean_sojourn(1, 9.0, 10.0) == pytest.approx(1 / (10 - 9))
    assert mean_wait(1, 9.0, 10.0) == pytest.approx(0.9)


def test_at_and_beyond_saturation_the_wait_has_no_end() -> None:
    assert erlang_c(2, 2.0) == erlang_c(2, 3.0) == 1
    assert mean_wait(2, 2.0, 1.0) == mean_wait(2, 3.0, 1.0) == math.inf


def test_without_arrivals_nobody_waits() -> None:
    assert mean_wait(1, 0.0, 10.0) == 0
    assert mean_sojourn(1, 0.0, 10.0) == pytest.approx(0.1)
