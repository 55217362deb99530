"""DABS-Storm's degrees, each by hand."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.model import Operator, Topology
from penstock.performance.impact import Demand, degrees

CHAIN = Topology(tuple(Operator(name, max=50) for name in "abc"), (("a", "b"), ("b", "c")))
JOIN = Topology(tuple(Operator(name, max=50) for name in "abc"), (("a", "c"), ("b", "c")))


def demand(load: float, capacity: float, degree: int = 1, **figures: Any) -> Demand:
    """An operator that will receive so many records and can process so many."""
    usual: dict[str, Any] = {
        "pending": 0.0,
        "selectivity": 1.0,
        "increasing": False,
        "shares": dict.fromkeys("abc", 1.0),
    }
    return Demand(load=load, capacity=capacity, degree=degree, **(usual | figures))


def sized(topology: Topology, alpha: float = 0.0, **demands: Demand) -> dict[str, int]:
    return degrees(topology, demands, 0.4, 0.8, alpha)


@pytest.mark.parametrize(
    ("activity", "increasing", "then"),
    [
        (0.40, False, 4),  # underused: 10 * 0.4
        (0.25, False, 3),  # 2.5 is rounded up
        (0.24, False, 2),
        (0.40, True, 10),  # it grows: wait
        (0.60, False, 10),
        (0.90, False, 10),
        (0.90, True, 10),  # 9 and one more: it has that
        (0.96, True, 11),
        (1.00, True, 11),
        (1.04, False, 10),  # beyond its capacity, but not by half an instance
        (1.05, False, 11),
        (1.60, False, 16),
    ],
)
def test_local_degrees_are_rounded_to_the_nearest(activity: float, increasing: bool, then: int) -> None:
    assert demand(1000 * activity, 1000, 10, increasing=increasing).local_degree(0.4, 0.8) == then


def test_what_waits_counts_as_much_as_what_will_come() -> None:
    assert demand(100, 200, pending=500).activity == 3.0


def test_the_children_of_one_that_grows_follow_its_impact() -> None:
    """a grows to 4; b, which has room for what it sees, needs 2 instances for 400."""
    grown = sized(CHAIN, a=demand(400, 100), b=demand(100, 200), c=demand(100, 5000))
    assert (grown["a"], grown["b"], grown["c"]) == (5, 2, 1)


def test_the_children_of_one_that_stays_do_not() -> None:
    """a is nearly full and level: it stays, and so does b, however much more a sends than b has seen."""
    assert sized(CHAIN, a=demand(95, 100), b=demand(50, 60), c=demand(50, 500))["b"] == 1


def test_a_scale_in_is_cancelled_or_turned_round_by_an_impact() -> None:
    def child(load: float) -> int:
        return sized(CHAIN, a=demand(load, 100, 1), b=demand(100, 1000, 10), c=demand(100, 5000))["b"]

    assert child(90) == 2  # a stays: ten instances for 100 of 1000 shrink to two, as one would have no CPU to spare
    assert child(500) == 5  # a grows, and its impact needs five
    assert child(1000) == 10
    assert child(1500) == 15


def test_an_impact_is_what_all_parents_send_together() -> None:
    grown = sized(
        JOIN, a=demand(300, 100, selectivity=2.0), b=demand(50, 100), c=demand(100, 100, shares={"a": 0.5, "b": 1.0})
    )
    assert grown["c"] == 4  # 300 * 2 / 2 + 50


def test_a_child_that_grows_only_for_an_impact_passes_on_what_its_present_instances_can() -> None:
    """b was to stay, and grows for 1000; c is told of 200, which b can process now."""
    grown = sized(CHAIN, a=demand(1000, 100), b=demand(100, 200), c=demand(100, 150))
    assert grown["b"] == 5
    assert grown["c"] == 2


def test_degrees_that_change_are_carried_by_the_cpu_that_instances_claim() -> None:
    """Of a fifth of a core only a fifth of the rate can be had; 1 % of that is left to balancing."""
    claims = Topology((Operator("a", max=50, cpu_cores=0.2),))
    assert degrees(claims, {"a": demand(250, 100, cpu_cores=0.2)}, 0.4, 0.8, 0.01) == {"a": 13}
    assert degrees(claims, {"a": demand(250, 100)}, 0.4, 0.8, 0.01) == {"a": 3}
    assert degrees(claims, {"a": demand(250, 100)}, 0.4, 0.8, 0.2) == {"a": 4}
    assert degrees(claims, {"a": demand(60, 100, cpu_cores=0.2)}, 0.4, 0.8, 0.01) == {"a": 1}  # it stays


def test_a_scale_in_that_its_cpu_does_not_carry_is_left_out() -> None:
    claims = Topology((Operator("a", max=50, cpu_cores=0.2),))
    assert degrees(claims, {"a": demand(300, 1000, 10, cpu_cores=0.2)}, 0.4, 0.8, 0.0) == {"a": 10}


@given(
    load=st.floats(0.0, 1e5), more=st.floats(1.0, 5.0), capacity=st.floats(1.0, 1e4), degree=st.integers(1, 40),
    pending=st.floats(0.0, 1e4),
)  # fmt: skip
def test_more_load_never_means_fewer_instances(
    load: float, more: float, capacity: float, degree: int, pending: float
) -> None:
    one = Topology((Operator("a", max=50),))
    quiet, busy = (
        degrees(one, {"a": demand(each, capacity, degree, pending=pending)}, 0.4, 0.8, 0.01)["a"]
        for each in (load, load * more)
    )
    assert quiet <= busy
