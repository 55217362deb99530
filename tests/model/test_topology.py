"""A job is a graph without cycles, of operators with different names and sane bounds."""

import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.model import Actuation, InvalidValueError, Operator, Topology
from strategies import topologies


def job(names: str, *edges: str, **details: Any) -> Topology:
    """`job("abc", "ab", "bc")`: a word for the operators, a word of two letters for each edge."""
    return Topology(tuple(map(Operator, names)), tuple((edge[0], edge[1]) for edge in edges), **details)


@pytest.mark.parametrize(
    ("details", "sentence"),
    [
        ({"name": ""}, "operator name must be a word, not ''"),
        ({"name": 3}, "operator name must be a word, not 3"),
        ({"name": "a", "min": 0}, "operator a: min must be a whole number of at least 1, not 0"),
        ({"name": "a", "max": 2.5}, "operator a: max must be a whole number of at least 1, not 2.5"),
        ({"name": "a", "min": 5, "max": 4}, "operator a: min must not exceed max, but 5 > 4"),
        ({"name": "a", "cpu_cores": -1}, "operator a: cpu_cores must be a finite number of at least 0, not -1"),
        ({"name": "a", "cpu_cores": None}, "operator a: cpu_cores must be a finite number of at least 0, not None"),
        ({"name": "a", "memory_mb": "1 GB"}, "operator a: memory_mb must be a finite number of at least 0, not '1 GB'"),
        (
            {"name": "a", "actuation": "magic"},
            "operator a: actuation 'magic' is not known. There is: live, restart, state_repartition",
        ),
    ],
)
def test_a_bad_operator_is_refused_in_one_sentence(details: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidValueError) as refused:
        Operator(**details)
    assert str(refused.value) == sentence


def test_an_actuation_may_be_given_as_a_word() -> None:
    assert Operator("a", actuation="restart").actuation is Actuation.RESTART  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("operators", "edges", "sentence"),
    [
        ((), (), "operators must name at least one operator"),
        (("a",), (), "operators must each be an Operator, not 'a'"),
        ((Operator("a"), Operator("a")), (), "operators must have different names, but 'a' stands twice"),
        ((Operator("a"),), (("a", "b"),), "edges: a -> b: 'b' is not known. There is: a"),
        ((Operator("split"),), (("spilt", "split"),),
         "edges: spilt -> split: 'spilt' is not known; did you mean 'split'? There is: split"),
        ((Operator("a"), Operator("b")), (("a", "b"), ("a", "b")), "edges must differ, but a -> b stands twice"),
        ((Operator("a"), Operator("b")), ("ab",), "edges must be pairs of a parent and a child, not 'ab'"),
        ((Operator("a"), Operator("b")), (("a", "b", "a"),),
         "edges must be pairs of a parent and a child, not ('a', 'b', 'a')"),
        ((Operator("a"),), (("a", "a"),), "edges must not form a cycle: a -> a"),
        ((Operator("a", min=5, tie="state"), Operator("b", max=3, tie="state")), (),
         "tie state cannot hold: one operator has min 5, another max 3"),
    ],
)  # fmt: skip
def test_a_bad_graph_is_refused_in_one_sentence(operators: Any, edges: Any, sentence: str) -> None:
    with pytest.raises(InvalidValueError) as refused:
        Topology(operators, edges)
    assert str(refused.value) == sentence


def test_a_cycle_is_named_along_the_way_the_records_would_take() -> None:
    with pytest.raises(InvalidValueError, match=r"^edges must not form a cycle: (b -> c -> d -> b|c -> d -> b -> c)"):
        job("abcd", "ab", "bc", "cd", "db")


@pytest.mark.parametrize("partitions", [0, -1, 1.5])
def test_a_source_has_at_least_one_partition(partitions: Any) -> None:
    with pytest.raises(InvalidValueError) as refused:
        job("a", source_partitions=partitions)
    assert str(refused.value) == f"source_partitions must be a whole number of at least 1, not {partitions!r}"


@given(topologies())
def test_every_operator_comes_after_its_parents(topology: Topology) -> None:
    order = topology.order
    assert sorted(order) == sorted(topology.names)
    assert all(order.index(parent) < order.index(child) for parent, child in topology.edges)


@given(topologies())
def test_parents_and_children_are_the_edges_read_both_ways(topology: Topology) -> None:
    down = {(name, child) for name in topology.names for child in topology.children[name]}
    up = {(parent, name) for name in topology.names for parent in topology.parents[name]}
    assert down == up == set(topology.edges)
    assert set(topology.roots) == set(topology.names) - {child for _, child in topology.edges}
    assert set(topology.leaves) == set(topology.names) - {parent for parent, _ in topology.edges}


@given(topologies(), st.data())
def test_an_edge_back_to_an_ancestor_is_refused(topology: Topology, data: st.DataObject) -> None:
    if topology.edges:
        parent, child = data.draw(st.sampled_from(topology.edges))
        with pytest.raises(InvalidValueError, match="must not form a cycle"):
            Topology(topology.operators, (*topology.edges, (child, parent)))


def test_among_equals_the_order_is_the_one_given() -> None:
    assert job("dcba").order == ("d", "c", "b", "a")
    assert job("zabc", "zc", "zb", "za").order == ("z", "a", "b", "c")


def test_lists_become_tuples_so_that_a_topology_can_be_shared() -> None:
    topology = Topology([Operator("a"), Operator("b")], [["a", "b"]])  # type: ignore[arg-type]
    assert topology == job("ab", "ab")
    assert hash(topology) == hash(job("ab", "ab"))
    assert pickle.loads(pickle.dumps(topology)) == topology


def test_an_operator_is_found_by_name() -> None:
    topology = job("ab", "ab")
    assert topology["b"] is topology.operators[1]
    with pytest.raises(InvalidValueError, match=r"^operator 'c' is not known\. There is: a, b$"):
        topology["c"]


def test_the_sources_partitions_cap_the_roots_and_nobody_else() -> None:
    topology = job("abc", "ac", "bc", source_partitions=8)
    assert [topology.ceiling(name) for name in "abc"] == [8, 8, 100]
    assert [topology.clamp(name, 50) for name in "abc"] == [8, 8, 50]
    assert topology.clamp("a", 0) == 1


def test_fewer_partitions_than_the_min_leave_the_min() -> None:
    topology = Topology((Operator("a", min=4, max=6),), source_partitions=2)
    assert topology.ceiling("a") == 4
    assert topology.clamp("a", 100) == 4
