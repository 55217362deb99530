"""Numbers of instances that suit key groups and partitions: those of Flink's JobVertexScalerTest, and laws."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.performance.key_groups import aligned


@pytest.mark.parametrize(
    ("wanted", "current", "groups", "least", "most", "expected"),
    [
        (5, 6, 36, 1, 36, 6), (24, 16, 128, 1, 128, 32), (260, 200, 720, 1, 720, 360), (60, 16, 128, 60, 128, 64),
        (300, 200, 720, 1, 300, 240), (600, 200, 720, 1, 600, 360), (3, 6, 15, 1, 128, 3), (9, 7, 15, 1, 128, 15),
        (18, 20, 35, 1, 30, 18), (112, 80, 200, 1, 128, 100), (96, 24, 199, 1, 999, 199),
    ],
)  # fmt: skip
def test_the_numbers_of_flinks_own_tests(
    wanted: int, current: int, groups: int, least: int, most: int, expected: int
) -> None:
    assert aligned(wanted, current, groups, least, most) == expected


def test_utilisation_is_satisfied_with_a_smaller_largest_share() -> None:
    assert aligned(96, 24, 199, 1, 999, even=False) == 100  # 99 have two partitions, one has one


def test_a_number_that_would_turn_growth_into_shrinkage_is_not_taken() -> None:
    assert aligned(25, 22, 35, 20, 30) == 22


@given(st.integers(1, 60), st.integers(1, 60), st.integers(1, 60), st.booleans())
def test_the_direction_is_kept_and_the_groups_are_not_exceeded(
    wanted: int, current: int, groups: int, even: bool
) -> None:
    found = aligned(wanted, current, groups, 1, 60, even=even)
    if wanted > current:
        assert found >= current
        assert found == current or found <= groups
    elif wanted < current:
        assert found <= current
    else:
        assert found == current
