"""The cheapest plans for rising rates."""

import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.model import Operator, Topology
from penstock.performance.jackson import Station as Jackson
from penstock.performance.ladder import Station, Stations, wait
from penstock.performance.service_curve import ServiceCurve


def station(seconds: float, visits: float = 1.0, burstiness: float = 1.0, slope: float = 0.0) -> Station:
    curve = ServiceCurve()
    for k in (1, 2, 3, 4) if slope else (2,):
        for _ in range(50):
            curve.learn(k, seconds * (1 + slope * (k - 1)))
    return Station(curve, visits, burstiness)


def chain(*stations: Station, budget: float, most: int = 40) -> Stations:
    names = [f"op{i}" for i in range(len(stations))]
    topology = Topology.chain(*(Operator(name, max=most) for name in names))
    return Stations(topology, dict(zip(names, stations, strict=True)), budget)


@settings(max_examples=60)
@given(k=st.integers(1, 64), rho=st.floats(0.01, 0.99))
def test_the_wait_is_that_of_erlang(k: int, rho: float) -> None:
    assert wait(k, rho, 1.0) == pytest.approx(Jackson.of(k, rho * k, 1.0).wait, rel=1e-6)


@settings(max_examples=30)
@given(k=st.integers(65, 400), rho=st.floats(0.95, 0.99))
def test_with_very_many_instances_a_busy_queue_is_that_of_erlang_within_a_fifth(k: int, rho: float) -> None:
    assert wait(k, rho, 1.0) == pytest.approx(Jackson.of(k, rho * k, 1.0).wait, rel=0.2)


def test_a_full_operator_waits_for_ever() -> None:
    assert wait(3, 1.0, 0.1) == math.inf


def test_a_plan_carries_what_the_budget_allows_and_not_more() -> None:
    stations = chain(station(0.01, burstiness=5.0), station(0.02, visits=0.5), budget=0.3)
    plan = {"op0": 3, "op1": 2}
    rung = stations.rung(plan)
    assert rung.capacity == pytest.approx(min(3 / 0.01, 2 / 0.01))
    assert stations.time_inside(plan, rung.limit) <= 0.3
    assert stations.time_inside(plan, rung.limit + 0.01 * rung.capacity) > 0.3


def test_no_plan_of_brute_force_is_cheaper() -> None:
    stations = chain(station(0.01, burstiness=20), station(0.03, burstiness=5), station(0.005, 2.0, 50), budget=0.5)
    for rate in (50.0, 150.0, 400.0):
        rung = stations.ladder([rate])[0]
        cheapest = min(
            sum(plan)
            for plan in itertools.product(range(1, 25), repeat=3)
            if stations.time_inside({f"op{i}": k for i, k in enumerate(plan)}, rate, 0.97) <= 0.5
        )
        assert rung.slots == cheapest
        assert rung.limit >= rate


def test_every_step_carries_more_and_shrinks_nowhere() -> None:
    stations = chain(station(0.01, burstiness=20), station(0.03, slope=0.01), budget=0.5)
    rungs = stations.ladder([10.0 * 1.3**i for i in range(12)])
    for lower, higher in itertools.pairwise(rungs):
        assert higher.limit > lower.limit
        assert all(higher.parallelism[name] >= k for name, k in lower.parallelism.items())


def test_only_the_heaviest_path_grows() -> None:
    topology = Topology(
        tuple(map(Operator, ("read", "slow", "fast", "join"))),
        (("read", "slow"), ("read", "fast"), ("slow", "join"), ("fast", "join")),
    )
    each = {"read": station(0.001), "slow": station(0.1, burstiness=10), "fast": station(0.001), "join": station(0.001)}
    rung = Stations(topology, each, budget=0.3).ladder([30.0])[0]
    assert rung.parallelism["slow"] > 3
    assert rung.parallelism["fast"] == rung.parallelism["read"] == rung.parallelism["join"] == 1


def test_an_operator_at_its_most_ends_the_ladder() -> None:
    rungs = chain(station(0.1), budget=0.5, most=3).ladder([10.0, 100.0, 1000.0])
    assert rungs[-1].parallelism == {"op0": 3}
    assert rungs[-1].limit < 30


@pytest.mark.parametrize("rate", [396.0, 500.0])
def test_others_do_not_grow_for_a_rate_that_an_operator_at_its_most_cannot_carry(rate: float) -> None:
    """At 396 records/s the four instances of op0 are 99 % busy, at 500 overloaded; op1 can do nothing about that."""
    stations = Stations(
        Topology.chain(Operator("op0", max=4), Operator("op1", max=100)),
        {"op0": station(0.01, burstiness=5.0), "op1": station(0.01, burstiness=5.0)},
        budget=0.1,
    )
    plan = stations.ladder([rate])[0].parallelism
    assert plan["op0"] == 4
    assert plan["op1"] <= 10


def test_operators_of_one_tie_have_one_number() -> None:
    topology = Topology((Operator("join", tie="state"), Operator("count", tie="state")), (("join", "count"),))
    stations = Stations(topology, {"join": station(0.001), "count": station(0.1)}, budget=0.5)
    plan = stations.ladder([50.0])[0].parallelism
    assert plan["join"] == plan["count"] > 5


def test_a_plan_far_from_what_was_seen_is_not_known() -> None:
    stations = chain(station(0.01), budget=0.5)
    near, far = stations.rung({"op0": 3}), stations.rung({"op0": 30})
    assert near.known
    assert not far.known
    assert far.error > near.error
