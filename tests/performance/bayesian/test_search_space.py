"""A space of configurations: its bounds, and how models see it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.model import InvalidValueError, Operator, Topology
from penstock.performance.bayesian.search_space import SearchSpace, ceiling


@given(k=st.integers(1, 40))
def test_models_see_parallelism_on_a_scale_that_does_not_depend_on_the_base(k: int) -> None:
    low, high = SearchSpace((1, 1), (40, 1)), SearchSpace((k, 1), (40, 1))
    assert low.unit([(k, 1)]).tolist() == high.unit([(k, 1)]).tolist()
    assert 0.0 <= low.unit([(k, 1)])[0, 0] <= 1.0


def test_the_ceiling_heeds_the_sources_partitions() -> None:
    line = Topology((Operator("read", max=40), Operator("count", max=30)), (("read", "count"),), source_partitions=8)
    assert ceiling(line) == (8, 30)
    assert SearchSpace.above((2, 3), line).upper == (8, 30)


def test_an_empty_space_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="search space must not be empty"):
        SearchSpace((3,), (2,))
