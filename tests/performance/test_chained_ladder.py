"""Plans of a job whose operators may share their instances."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from penstock.model import Operator, Topology
from penstock.performance.chained_ladder import ChainedStations, parted, tied_chains, with_room
from penstock.performance.ladder import Station, Stations
from penstock.performance.service_curve import ServiceCurve

NAMES = ("read", "parse", "count")


def line(*, chained: bool = True, most: int = 100, **bounds: int) -> Topology:
    return Topology.chain(*(Operator(name, max=bounds.get(name, most), chained=chained) for name in NAMES))


def stations(
    seconds: tuple[float, ...] = (0.002, 0.003, 0.005), visits: tuple[float, ...] = (1, 1, 1)
) -> dict[str, Station]:
    found = {}
    for name, each, visited in zip(NAMES, seconds, visits, strict=True):
        curve = ServiceCurve()
        for k in (1, 8, 20):
            curve.learn(k, each)
        found[name] = Station(curve, visited, 1.0)
    return found


def plan(*parallelism: int) -> dict[str, int]:
    return dict(zip(NAMES, parallelism, strict=True))


def in_a_second(hops: int) -> float:
    """A job whose hops take no time."""
    return 1.0


@pytest.mark.parametrize(
    ("parallelism", "slots", "capacity"),
    [((2, 2, 2), 2, 200.0), ((2, 2, 3), 5, 400.0), ((1, 3, 3), 4, 375.0), ((1, 2, 3), 6, 500.0)],
)
def test_a_chain_is_one_station_with_the_work_of_all(parallelism: tuple[int, ...], slots: int, capacity: float) -> None:
    rung = ChainedStations(line(), stations(), in_a_second).rung(plan(*parallelism))
    assert rung.slots == slots
    assert rung.capacity == pytest.approx(capacity)
    assert rung.parallelism == plan(*parallelism)


def test_records_that_an_operator_makes_of_one_are_all_worked_on() -> None:
    rung = ChainedStations(line(), stations(visits=(1, 2, 2)), in_a_second).rung(plan(1, 1, 1))
    assert rung.capacity == pytest.approx(1 / (0.002 + 2 * 0.003 + 2 * 0.005))


def test_a_record_waits_once_in_a_chain() -> None:
    together = ChainedStations(line(), stations(), in_a_second).time_inside(plan(1, 1, 1), 50.0)
    assert together == pytest.approx(0.010 + 0.010 * 0.5 / (1 - 0.5))  # M/M/1 at half its capacity


services = st.tuples(*[st.floats(0.0005, 0.02)] * 3)


@given(services, st.lists(st.floats(10.0, 1_000.0), min_size=1, max_size=5))
@example((0.01881692452820838, 0.01881692452820838, 0.001), [326.0])
def test_whatever_operators_apart_carry_is_carried_with_no_more_slots(
    seconds: tuple[float, ...], rates: list[float]
) -> None:
    rates, known = sorted(rates), stations(seconds)
    ladder = ChainedStations(line(), known, in_a_second).ladder(rates)
    assert [rung.limit for rung in ladder] == sorted(rung.limit for rung in ladder)
    assert [rung.slots for rung in ladder] == sorted({rung.slots for rung in ladder})
    apart = Stations(line(chained=False), known, budget=1.0).ladder(rates)
    for rate in rates:
        needed = min((rung.slots for rung in apart if rung.limit >= rate), default=None)
        known_to = 0.998 * rate  # limits are found to within two thousandths
        assert needed is None or min(rung.slots for rung in ladder if rung.limit >= known_to) <= needed


def test_where_one_may_have_no_more_instances_the_others_part_from_it() -> None:
    topology = line(read=2)
    ladder = ChainedStations(topology, stations(), in_a_second).ladder([600.0])
    best = next(rung for rung in ladder if rung.limit >= 600.0)
    assert best.parallelism["read"] == 2
    assert topology.chains(best.parallelism) == (("read",), ("parse", "count"))


def test_where_a_topic_has_many_partitions_the_first_chain_reads_them_itself() -> None:
    """One instance would do, but the four tasks that read would have slots of their own."""
    topology = Topology.chain(
        Operator("read", readers=4), Operator("parse", chained=True), Operator("count", chained=True)
    )
    [best, *_] = ChainedStations(topology, stations(), in_a_second).ladder([10.0])
    assert (best.parallelism, best.slots) == (plan(4, 4, 4), 4)


def test_what_one_reader_cannot_carry_is_parted_from_what_it_can() -> None:
    """Three shared instances would carry the 240 records a second too, but with the reader they hold four slots."""
    behind = (Operator(name, chained=True) for name in NAMES[1:])
    topology = Topology.chain(Operator("read", readers=1), *behind)
    ladder = ChainedStations(topology, stations((0.003, 0.004, 0.003)), in_a_second).ladder([20.0, 240.0])
    best = next(rung for rung in ladder if rung.limit >= 240.0)
    assert (best.parallelism, best.slots) == (plan(1, 2, 2), 3)


def test_bounds_that_contradict_each_other_keep_operators_apart() -> None:
    bounded = Topology.chain(
        Operator("read", max=2), Operator("parse", min=3, chained=True), Operator("count", chained=True)
    )
    assert tied_chains(bounded) == (("read",), ("parse", "count"))


def test_instances_that_are_shared_have_room_for_all_the_work() -> None:
    """The second grows for the two behind it, and then it shares with the first as well."""
    work = {"read": 1.9, "parse": 0.9, "count": 0.9}
    assert with_room(plan(2, 1, 1), work, line()) == plan(4, 4, 4)
    assert with_room(plan(2, 1, 1), work, line(chained=False)) == plan(2, 1, 1)


def test_neighbours_of_the_same_number_are_parted() -> None:
    assert parted(plan(2, 2, 2), line()) == plan(2, 3, 2)
    assert parted(plan(2, 2, 2), line(most=2)) == plan(2, 2, 2)


def test_a_plan_with_more_hops_has_less_time_for_its_queues() -> None:
    dear = ChainedStations(line(), stations(), lambda hops: 0.072 - 0.028 * hops)
    apart, fused = dear.rung(plan(1, 2, 3)), dear.rung(plan(3, 3, 3))
    assert apart.limit / apart.capacity < 0.7 < fused.limit / fused.capacity


def test_operators_of_one_tie_stay_together() -> None:
    """The last one could have more, and would: it takes as long as the other two."""
    operators = (Operator("read", max=2), Operator("parse", chained=True), Operator("count", chained=True))
    free, tied = (
        Topology.chain(*(replace(each, tie=tie if each.name != "read" else None) for each in operators))
        for tie in (None, "behind")
    )
    slow = stations((0.002, 0.001, 0.020))
    for rung in ChainedStations(tied, slow, in_a_second).ladder([50.0, 200.0, 800.0]):
        assert rung.parallelism["parse"] == rung.parallelism["count"]
    assert parted(plan(2, 2, 2), free) == plan(2, 3, 2)
