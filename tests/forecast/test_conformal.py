"""Quantiles that are counted from misses."""

import random

import pytest

from penstock.forecast._conformal import REMEMBERED, Misses


@pytest.mark.parametrize("level", [0.1, 0.5, 0.9, 0.97])
def test_the_next_miss_is_below_a_quantile_as_often_as_it_says(level: float) -> None:
    draw, misses, below = random.Random(3), Misses(nominal=1.0), 0
    for _ in range(REMEMBERED):
        misses.add(draw.expovariate(1.0) ** 2)  # far from normal
    for _ in range(4000):
        miss = draw.expovariate(1.0) ** 2
        below += miss <= misses.quantile(level)
        misses.add(miss)
    assert below / 4000 == pytest.approx(level, abs=0.02)


def test_a_nominal_error_stands_in_before_anything_was_measured() -> None:
    misses = Misses(nominal=0.1)
    assert misses.quantile(0.5) == pytest.approx(0.0)
    assert misses.quantile(0.975) == pytest.approx(0.196, abs=1e-3)


def test_without_misses_nothing_is_uncertain() -> None:
    misses = Misses(0.1, [0.0] * 50)
    assert misses.quantile(0.995) == misses.quantile(0.005) == 0.0


def test_a_level_that_so_few_cannot_show_lies_beyond_the_largest() -> None:
    misses = Misses(0.1, [i / 100 for i in range(-10, 11)])
    assert misses.quantile(0.999) > misses.quantile(0.99) > 0.10
    assert misses.quantile(0.001) < -0.10


def test_old_misses_are_forgotten() -> None:
    misses = Misses(0.1, [5.0] * REMEMBERED)
    for _ in range(REMEMBERED):
        misses.add(0.0)
    assert misses.quantile(0.99) == 0.0
    assert len(misses.newest) == REMEMBERED
