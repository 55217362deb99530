"""Dp-Stream's equations 6 to 9, by hand."""

from __future__ import annotations

from itertools import pairwise

import pytest

from penstock.model import Operator, Topology
from penstock.performance.latency_model import LatencyModel, apart

WORDS = Topology(tuple(map(Operator, ("spout", "split", "count"))), (("spout", "split"), ("split", "count")))
DIAMOND = Topology(
    tuple(map(Operator, ("read", "left", "right", "join"))),
    (("read", "left"), ("read", "right"), ("left", "join"), ("right", "join")),
)
LOAD = {"spout": 2000.0, "split": 2000.0, "count": 8000.0}
SPEED = {"spout": 4000.0, "split": 1000.0, "count": 5000.0}
ONES = dict.fromkeys(LOAD, 1)


def test_processing_time_is_what_arrives_over_what_all_instances_do() -> None:
    model = LatencyModel(WORDS, LOAD, SPEED, moment=0.001)
    assert [model.processing_time("split", k) for k in (1, 2, 4)] == pytest.approx([0.002, 0.001, 0.0005])
    latencies = [model.processing_time("count", k) for k in range(1, 20)]
    assert all(more < fewer for fewer, more in pairwise(latencies))


def test_sending_takes_time_between_workers_only() -> None:
    together = {"spout": ("a",), "split": ("a",), "count": ("b",)}
    model = LatencyModel(WORDS, LOAD, SPEED, moment=0.001, bandwidth=10_000, placement=together)
    assert model.transmission_time("spout") == 0.0
    assert model.transmission_time("split") == pytest.approx(2000 * 0.001 / 10_000)
    assert model.transmission_time("count") == 0.0  # a leaf sends nothing
    assert model.operator_latency("split", 2) == pytest.approx(0.001 + 0.0002)


@pytest.mark.parametrize(("bandwidth", "placed"), [(None, True), (10_000.0, False)])
def test_where_bandwidth_or_places_are_unknown_sending_is_not_counted(bandwidth: float | None, placed: bool) -> None:
    placement = {"spout": ("a",), "split": ("b",), "count": ("c",)} if placed else None
    model = LatencyModel(WORDS, LOAD, SPEED, 0.001, bandwidth, placement)
    assert model.transmission_time("spout") == 0.0


def test_pairs_of_instances_share_the_network() -> None:
    assert apart({"x": ("a", "a"), "y": ("a", "b")}, "x", "y") == 0.5
    assert apart({"x": ("a", "b"), "y": ("a", "b", "c")}, "x", "y") == pytest.approx(4 / 6)
    assert apart({"x": ("a",), "y": ("a",)}, "x", "y") == 0.0
    assert apart({"x": ("a",)}, "x", "y") == 0.0


def test_the_child_furthest_away_counts() -> None:
    placement = {"read": ("a",), "left": ("a",), "right": ("a", "b"), "join": ("a",)}
    load = dict.fromkeys(DIAMOND.names, 100.0)
    model = LatencyModel(DIAMOND, load, load, moment=1.0, bandwidth=50.0, placement=placement)
    assert model.transmission_time("read") == pytest.approx(0.5 * 100 / 50)


def test_the_job_takes_as_long_as_its_critical_path() -> None:
    model = LatencyModel(WORDS, LOAD, SPEED, moment=0.001)
    assert model.job_latency(ONES) == pytest.approx(0.0005 + 0.002 + 0.0016)
    speed = {"read": 1000.0, "left": 500.0, "right": 200.0, "join": 1000.0}
    load = dict.fromkeys(DIAMOND.names, 100.0)
    fork = LatencyModel(DIAMOND, load, speed, moment=1.0)
    assert fork.critical_operators(dict.fromkeys(DIAMOND.names, 1)) == ("read", "right", "join")
    assert fork.job_latency(dict.fromkeys(DIAMOND.names, 1)) == pytest.approx(0.1 + 0.5 + 0.1)
    assert fork.critical_operators({"read": 1, "left": 1, "right": 3, "join": 1}) == ("read", "left", "join")


def test_a_weight_makes_an_operator_count_for_more() -> None:
    model = LatencyModel(WORDS, LOAD, SPEED, moment=0.001, weights={"split": 3.0})
    assert model.operator_latency("split", 1) == pytest.approx(0.006)
    assert model.operator_latency("spout", 1) == pytest.approx(0.0005)
