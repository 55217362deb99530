"""What executors cost, from the moments at which they were added and removed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.spark.executors.core_seconds import CoreSeconds, Lifetime

SINCE = 100.0
MOMENTS = st.floats(0.0, 1_000.0)


@st.composite
def executors(draw: st.DrawFn) -> list[Lifetime]:
    found = []
    for number in range(draw(st.integers(0, 6))):
        added, removed = sorted((draw(MOMENTS), draw(MOMENTS)))
        found.append(Lifetime(str(number), draw(st.integers(1, 8)), added, removed))
    return found


def seen_at(t: float, lives: list[Lifetime]) -> dict[str, Lifetime]:
    """What Spark lists at `t`."""
    return {
        each.id: each if each.removed is not None and each.removed <= t else Lifetime(each.id, each.cores, each.added)
        for each in lives
        if each.added <= t
    }


@given(executors(), st.lists(st.floats(SINCE, 1_000.0), min_size=1, max_size=8))
def test_the_sum_is_the_same_however_often_it_is_read(lives: list[Lifetime], moments: list[float]) -> None:
    cost = CoreSeconds(SINCE)
    for t in sorted(moments):
        total = cost.read(seen_at(t, lives), t)
        assert total == pytest.approx(sum(each.core_seconds(SINCE, t) for each in lives))
        assert cost.total == total


def test_an_executor_is_paid_for_until_it_is_gone_and_not_longer() -> None:
    cost = CoreSeconds(0.0)
    cost.read({"0": Lifetime("0", 2, 0.0), "1": Lifetime("1", 2, 0.0)}, 10.0)
    assert cost.read({"0": Lifetime("0", 2, 0.0), "1": Lifetime("1", 2, 0.0, removed=31.0)}, 40.0) == 2 * 40 + 2 * 31


def test_what_happened_after_a_moment_counts_later() -> None:
    """A cycle that waits for executors ends long after its own time."""
    cost, gone, new = CoreSeconds(0.0), Lifetime("0", 2, 0.0, removed=30.0), Lifetime("1", 2, 35.0)
    assert cost.read({"0": gone, "1": new}, 20.0) == 2 * 20
    assert cost.read({"0": gone, "1": new}, 40.0) == 2 * 30 + 2 * 5


def test_an_executor_that_spark_has_forgotten_counts_until_it_was_last_seen() -> None:
    cost = CoreSeconds(0.0)
    cost.read({"0": Lifetime("0", 2, 0.0)}, 10.0)
    assert cost.read({}, 40.0) == 20.0
    assert cost.read({}, 50.0) == 20.0
