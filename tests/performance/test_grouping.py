"""Load-balancing grouping, event by event."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.performance import grouping
from penstock.performance.grouping import send_each, utilisation


def test_a_fresh_replica_gets_all_events_until_it_has_caught_up() -> None:
    counts, turn = send_each(np.array([0.4, 0.4, 0.0]), step=0.1, events=7)
    assert (counts.tolist(), turn) == ([1, 1, 5], 0)  # 4 for the new one, then one for each


def test_when_all_are_full_events_go_round_from_whose_turn_it_is() -> None:
    counts, turn = send_each(np.array([1.0, 1.0, 1.0]), step=0.1, events=4, turn=1)
    assert (counts.tolist(), turn) == ([1, 2, 1], 2)


def test_ten_events_of_a_tenth_fill_a_replica_in_spite_of_rounding() -> None:
    each, turn = send_each(np.array([0.0]), step=0.1, events=11)
    assert (each.tolist(), turn) == ([11], 0)
    counts, turn = send_each(np.array([0.0, 1.0]), step=0.1, events=11)
    assert (counts.tolist(), turn) == ([11, 0], 1)  # 10 fill the first, the 11th opens the ring


def test_utilisation_is_the_share_of_the_interval_spent_on_events() -> None:
    assert utilisation(140, 0.0166, 2.324) == pytest.approx(1.0)


replicas = st.lists(st.floats(0, 1), min_size=1, max_size=12).map(np.array)
steps = st.floats(0.003, 1.5)


@given(st.integers(1, 40), st.integers(0, 400), steps)
def test_equal_replicas_get_equal_shares(count: int, events: int, step: float) -> None:
    counts, _ = send_each(np.zeros(count), step, events)
    assert counts.max() - counts.min() <= 1
    assert counts.sum() == events


@given(replicas, steps, st.integers(0, 400))
def test_no_replica_is_passed_over_for_one_that_has_more_to_do(
    utilisations: grouping.Utilisations, step: float, events: int
) -> None:
    counts, _ = send_each(utilisations, step, events)
    after = utilisations + counts * step
    served = counts > 0
    if served.any() and after.min() < 1 - 1e-6:
        assert after[served].max() - step <= after.min() + 1e-7
