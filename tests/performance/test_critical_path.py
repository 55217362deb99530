"""The heaviest path, against all paths there are."""

import itertools
from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from penstock.model import Operator, Topology
from penstock.performance.critical_path import critical_path
from strategies import topologies


def paths(topology: Topology, at: str) -> Iterator[tuple[str, ...]]:
    """Every way from `at` to a leaf."""
    if not topology.children[at]:
        yield (at,)
    for child in topology.children[at]:
        yield from ((at, *rest) for rest in paths(topology, child))


@given(topologies(most=7), st.data())
def test_no_path_is_heavier(topology: Topology, data: st.DataObject) -> None:
    weights = {name: data.draw(st.integers(0, 9)) for name in topology.names}
    everything = [path for root in topology.roots for path in paths(topology, root)]
    found = critical_path(topology, weights)
    assert found in everything
    assert sum(map(weights.__getitem__, found)) == max(sum(map(weights.__getitem__, path)) for path in everything)


@given(topologies(most=7), st.data())
def test_links_weigh_as_operators_do(topology: Topology, data: st.DataObject) -> None:
    weights = {name: data.draw(st.integers(0, 9)) for name in topology.names}
    links = {edge: data.draw(st.integers(0, 9)) for edge in topology.edges}

    def weight(path: tuple[str, ...]) -> int:
        return sum(map(weights.__getitem__, path)) + sum(map(links.__getitem__, itertools.pairwise(path)))

    everything = [path for root in topology.roots for path in paths(topology, root)]
    assert weight(critical_path(topology, weights, links)) == max(map(weight, everything))


@given(topologies(most=7))
def test_it_leads_from_a_root_to_a_leaf_even_where_nothing_weighs_anything(topology: Topology) -> None:
    found = critical_path(topology, dict.fromkeys(topology.names, 0.0))
    assert found[0] in topology.roots
    assert found[-1] in topology.leaves
    assert all(step in topology.edges for step in itertools.pairwise(found))


def test_among_equals_it_is_the_first_given() -> None:
    diamond = Topology(
        tuple(map(Operator, ("read", "left", "right", "join"))),
        (("read", "left"), ("read", "right"), ("left", "join"), ("right", "join")),
    )
    assert critical_path(diamond, dict.fromkeys(diamond.names, 1.0)) == ("read", "left", "join")


def test_one_operator_is_its_own_path() -> None:
    assert critical_path(Topology((Operator("all"),)), {"all": 3.0}) == ("all",)
