"""The coefficient of Flink's observed scalability, for the histories of its own test."""

from __future__ import annotations

import pytest

from penstock.performance.scalability import scaling_coefficient


@pytest.mark.parametrize(
    ("observed", "expected"),
    [
        ([(4, 200.0), (2, 100.0), (8, 400.0)], 1.0),
        ([(4, 196.0), (2, 99.0), (8, 390.0)], 0.99),
        ([(4, 160.0), (2, 96.0), (8, 240.0)], 0.69),
        ([(1, 50.0), (2, 80.0), (4, 100.0)], 0.59),
        ([(4, 100.0)], 1.0),
        ([(2, 80.0), (4, 100.0)], 0.7),
        ([(2, 80.0), (4, 160.0)], 1.0),
    ],
)
def test_the_histories_of_flinks_own_test(observed: list[tuple[int, float]], expected: float) -> None:
    assert scaling_coefficient(observed, least=0.5) == expected


def test_it_is_never_above_1_nor_below_the_least() -> None:
    assert scaling_coefficient([(1, 10.0), (2, 60.0)], least=0.5) == 1.0
    assert scaling_coefficient([(1, 100.0), (8, 110.0)], least=0.5) == 0.5


def test_the_newest_of_the_smallest_is_the_baseline() -> None:
    assert scaling_coefficient([(2, 400.0), (4, 200.0), (2, 100.0)], least=0.5) == 1.0
