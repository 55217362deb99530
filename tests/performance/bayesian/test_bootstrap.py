"""Bootstrap sets as the papers describe them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from penstock.performance.bayesian.bootstrap import bootstrap_set
from penstock.performance.bayesian.search_space import SearchSpace


def test_wordcounts_ten_samples_are_six_uniform_ones_and_one_for_each_operator() -> None:
    """k' = (3, 4, 12, 10), P_max = 40: intervals of 28 / 5 = 5.6 from 12 on."""
    samples = bootstrap_set(SearchSpace((3, 4, 12, 10), (40,) * 4), uniform_samples=6)
    assert samples == (
        (12, 12, 12, 12), (18, 18, 18, 18), (23, 23, 23, 23), (29, 29, 29, 29), (34, 34, 34, 34), (40, 40, 40, 40),
        (40, 4, 12, 10), (3, 40, 12, 10), (3, 4, 40, 10), (3, 4, 12, 40),
    )  # fmt: skip


def test_yahoos_forty_samples_count_a_level_once_when_intervals_are_shorter_than_an_instance() -> None:
    """k'_max = 34 leaves six instances for 34 intervals: seven levels, and five single ones."""
    samples = bootstrap_set(SearchSpace((4, 2, 1, 1, 34), (40,) * 5), uniform_samples=35)
    assert [k[0] for k in samples[:7]] == [34, 35, 36, 37, 38, 39, 40]
    assert len(samples) == 7 + 5


def test_an_operator_stops_at_its_own_bound() -> None:
    samples = bootstrap_set(SearchSpace((2, 2), (4, 10)), uniform_samples=3)
    assert samples == ((2, 2), (4, 6), (4, 10), (4, 2), (2, 10))


def test_one_uniform_sample_is_the_widest_of_the_base() -> None:
    assert bootstrap_set(SearchSpace((1, 3), (5, 5)), uniform_samples=1) == ((3, 3), (5, 3), (1, 5))


@given(
    bounds=st.lists(st.tuples(st.integers(1, 30), st.integers(0, 30)), min_size=1, max_size=6),
    uniform_samples=st.integers(1, 40),
)
def test_every_sample_lies_in_the_space_and_stands_once(bounds: list[tuple[int, int]], uniform_samples: int) -> None:
    space = SearchSpace(tuple(low for low, _ in bounds), tuple(low + more for low, more in bounds))
    samples = bootstrap_set(space, uniform_samples)
    assert all(k in space for k in samples)
    assert 1 <= len(samples) == len(set(samples)) <= uniform_samples + len(bounds)
