"""Throughput optimisation: the walk over the graph and the look back over its steps."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.model import Operator, Topology
from penstock.performance.bayesian.search_space import Configuration
from penstock.performance.throughput import keeps_up, look_back, throughput_parallelism
from penstock.performance.true_rates import TrueRates


def line(*speeds: float, selectivity: float = 1.0, most: int = 100) -> tuple[Topology, dict[str, TrueRates]]:
    names = [f"op{i}" for i in range(len(speeds))]
    edges = tuple(pairwise(names))
    rates = {
        name: TrueRates(speed, speed * selectivity, {names[i - 1]: 1.0} if i else {})
        for i, (name, speed) in enumerate(zip(names, speeds, strict=True))
    }
    return Topology(tuple(Operator(name, max=most) for name in names), edges), rates


@pytest.mark.parametrize(
    ("speeds", "rate", "expected"),
    [
        ((150e3, 120e3, 42e3, 52e3), 350e3, (3, 4, 12, 10)),
        ((40e3, 2.3e3), 30e3, (1, 18)),
        ((110e3, 10.5e3), 100e3, (1, 11)),
    ],
)
def test_the_papers_jobs(speeds: tuple[float, ...], rate: float, expected: tuple[int, ...]) -> None:
    topology, rates = line(*speeds)
    assert throughput_parallelism(topology, rates, {"op0": rate}) == expected


def test_a_child_is_sized_for_what_its_parents_emit_at_their_rounded_parallelism() -> None:
    topology, rates = line(60.0, 100.0, selectivity=4.0)
    assert throughput_parallelism(topology, rates, {"op0": 61.0}) == (2, 5)  # 2 * 240, where DS2 sees 61 * 4


def test_a_parent_at_its_bound_offers_no_more_than_it_can() -> None:
    topology, rates = line(10.0, 10.0, most=3)
    assert throughput_parallelism(topology, rates, {"op0": 1000.0}) == (3, 3)


def test_a_join_receives_the_sum_of_its_parents_shares() -> None:
    topology = Topology((Operator("a"), Operator("b"), Operator("join")), (("a", "join"), ("b", "join")))
    rates = {"a": TrueRates(50, 50, {}), "b": TrueRates(50, 100, {}), "join": TrueRates(20, 0, {"a": 1.0, "b": 0.5})}
    assert throughput_parallelism(topology, rates, {"a": 60.0, "b": 40.0}) == (2, 1, 8)  # 100 + 100 / 2 by 20


@given(rate=st.floats(0, 1e4), more=st.floats(1, 3))
def test_more_input_never_means_fewer_instances(rate: float, more: float) -> None:
    topology, rates = line(70.0, 30.0, 45.0)
    less, greater = (throughput_parallelism(topology, rates, {"op0": r}) for r in (rate, rate * more))
    assert all(a <= b for a, b in zip(less, greater, strict=True))


def test_yahoo_looks_back_to_its_second_step() -> None:
    """Redis caps the job near 35,000 records/s while 60,000 arrive."""
    steps: dict[Configuration, float] = {
        (1, 1, 1, 1, 1): 1.1e3,
        (4, 2, 1, 1, 34): 34.7e3,
        (40, 2, 1, 1, 40): 35.3e3,
        (40, 1, 1, 1, 40): 35.1e3,
    }
    assert look_back(steps, 60e3, tolerance=0.01, noise=0.05) == (4, 2, 1, 1, 34)


def test_without_noise_the_look_back_takes_the_highest_throughput() -> None:
    assert look_back({(1, 1): 34.7, (9, 9): 35.3}, 60, tolerance=0.01, noise=0.0) == (9, 9)


def test_a_plan_that_keeps_up_beats_a_smaller_one_that_nearly_does() -> None:
    assert look_back({(1, 1): 97.0, (2, 2): 99.5, (9, 9): 140.0}, 100, tolerance=0.01, noise=0.05) == (2, 2)


def test_keeping_up_allows_for_measurement() -> None:
    assert keeps_up(99.0, 100.0, 0.01)
    assert not keeps_up(98.9, 100.0, 0.01)
