"""Dp-Stream's equations 6 to 9, by hand."""

from __future__ import annotations

from itertools import pairwise

import pytest

from penstock.model import Operator, Topology
from penstock.performance.latency_model import LatencyModel

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
    assert model.transmission_time("spout", "split") == 0.0
    assert model.transmission_time("split", "count") == pytest.approx(2000 * 0.001 / 10_000)
    assert model.operator_latency("split", 2, "count") == pytest.approx(0.001 + 0.0002)
    assert model.operator_latency("split", 2) == pytest.approx(0.001)  # the end of a path sends nothing


@pytest.mark.parametrize(("bandwidth", "placed"), [(None, True), (10_000.0, False)])
def test_where_bandwidth_or_places_are_unknown_sending_is_not_counted(bandwidth: float | None, placed: bool) -> None:
    placement = {"spout": ("a",), "split": ("b",), "count": ("c",)} if placed else None
    model = LatencyModel(WORDS, LOAD, SPEED, 0.001, bandwidth, placement)
    assert model.transmission_time("spout", "split") == 0.0


@pytest.mark.parametrize(
    ("senders", "receivers", "share"),
    [(("a", "a"), ("a", "b"), 0.5), (("a", "b"), ("a", "b", "c"), 4 / 6), (("a",), ("a",), 0.0), (("a",), (), 0.0)],
)
def test_pairs_of_instances_share_the_network(
    senders: tuple[str, ...], receivers: tuple[str, ...], share: float
) -> None:
    placement = {"spout": senders, "split": receivers}
    model = LatencyModel(WORDS, LOAD, SPEED, moment=1.0, bandwidth=500.0, placement=placement)
    assert model.transmission_time("spout", "split") == pytest.approx(share * 2000 / 500)


def test_every_pair_of_workers_may_have_a_bandwidth_of_its_own() -> None:
    """One pair in three is on one worker, one on a fast link and one on a slow one; the last worker has no limit."""
    placement = {"spout": ("a",), "split": ("a", "b", "c", "d")}
    links = {"a": {"b": 1000.0}, "c": {"a": 100.0}}
    model = LatencyModel(WORDS, LOAD, SPEED, moment=1.0, bandwidth=links, placement=placement)
    assert model.transmission_time("spout", "split") == pytest.approx(2000 / 4 * (1 / 1000 + 1 / 100))


def test_the_network_decides_which_path_is_critical_and_counts_along_it_only() -> None:
    """Right is as quick as left and further away. What read sends to the left is no part of the critical path."""
    placement = {"read": ("a",), "left": ("b",), "right": ("c",), "join": ("c",)}
    links = {"a": {"b": 100.0, "c": 50.0}, "b": {"c": 1e9}}
    load = dict.fromkeys(DIAMOND.names, 100.0)
    model = LatencyModel(DIAMOND, load, load, moment=1.0, bandwidth=links, placement=placement)
    ones = dict.fromkeys(DIAMOND.names, 1)
    assert model.critical_operators(ones) == ("read", "right", "join")
    assert model.path_latencies(ones) == pytest.approx({"read": 1.0 + 2.0, "right": 1.0, "join": 1.0})
    assert model.job_latency(ones) == pytest.approx(5.0)


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
