"""Whose the seconds of a stage are that several operators share."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.spark.measure.shared_stage import split

names = st.sampled_from("abcde")
seconds = st.floats(0.0, 1e3)


@given(seconds, st.dictionaries(names, st.none() | seconds, min_size=1), st.dictionaries(names, st.integers(0, 1000)))
def test_the_time_of_a_stage_is_split_without_a_rest(
    stage_seconds: float, known: dict[str, float | None], records: dict[str, int]
) -> None:
    shares = split(stage_seconds, known, records)
    assert shares.keys() == known.keys()
    assert all(share >= 0 for share in shares.values())
    assert sum(shares.values()) == pytest.approx(stage_seconds, abs=1e-9)


@given(seconds, st.dictionaries(names, st.floats(0.01, 1e3), min_size=2))
def test_it_is_split_as_measured_inside(stage_seconds: float, known: dict[str, float]) -> None:
    shares = split(stage_seconds, known, {})
    for name, inside in known.items():
        assert shares[name] * sum(known.values()) == pytest.approx(inside * stage_seconds)


def test_nothing_shared_by_nobody_in_particular_is_split_evenly() -> None:
    """No record came, but the tasks took their time."""
    assert split(1.0, {"a": 0.0, "b": 0.0}, {"a": 0, "b": 0}) == {"a": 0.5, "b": 0.5}
