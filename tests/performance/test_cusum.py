"""When a change is called one."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.performance.cusum import ALLOWED, Cusum


@pytest.mark.parametrize(("z", "needed"), [(40.0, 3), (3.5, 3), (3.0, 4), (2.5, 6), (2.0, 12), (1.5, None)])
@pytest.mark.parametrize("side", [1, -1])
def test_the_larger_a_change_the_fewer_values_it_takes(z: float, needed: int | None, side: int) -> None:
    cusum = Cusum()
    noticed = [cusum.add(side * z) for _ in range(needed or 1000)]
    assert noticed == ([0] * (needed - 1) + [needed] if needed else [0] * 1000)


def test_the_change_began_where_the_values_last_were_as_expected() -> None:
    cusum = Cusum()
    assert [cusum.add(z) for z in (0.1, 3.0, -1.0, -1.0, 3.0, 3.0, 3.0, 3.0)] == [0] * 7 + [4]


@given(values=st.lists(st.floats(-ALLOWED, ALLOWED), max_size=50))
def test_what_is_within_what_is_allowed_is_never_a_change(values: list[float]) -> None:
    cusum = Cusum()
    assert not any(cusum.add(z) for z in values)


@given(before=st.lists(st.floats(-ALLOWED, ALLOWED), max_size=20), outliers=st.lists(st.floats(-1e9, 1e9), max_size=2))
def test_two_outliers_are_not_a_change(before: list[float], outliers: list[float]) -> None:
    cusum = Cusum()
    assert not any(cusum.add(z) for z in (*before, *outliers))


def test_noise_alone_is_not_taken_for_a_change_in_a_day_of_batches() -> None:
    chance, cusum = random.Random(5), Cusum()
    assert not any(cusum.add(chance.gauss(0, 1)) for _ in range(150_000))
