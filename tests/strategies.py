"""What hypothesis draws from when a law must hold for any job."""

from __future__ import annotations

from hypothesis import strategies as st

from penstock.model import Operator, Plan, Topology


@st.composite
def topologies(draw: st.DrawFn, most: int = 6, bounded: bool = True) -> Topology:
    """Any directed acyclic graph: one operator, chains, diamonds, several roots, loose parts.

    Operators are given in any order, so a parent may stand behind its child. `bounded` draws minima, maxima
    and the partitions of the source; otherwise there is always room.
    """
    count = draw(st.integers(1, most))
    names = [f"op{i}" for i in range(count)]
    pairs = [(names[i], names[j]) for i in range(count) for j in range(i + 1, count)]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    if not bounded:
        return Topology(tuple(Operator(name, max=10_000) for name in draw(st.permutations(names))), tuple(edges))
    least = st.integers(1, 3)
    operators = [Operator(name, min=(low := draw(least)), max=low + draw(st.integers(0, 20))) for name in names]
    partitions = draw(st.none() | st.integers(1, 12))
    return Topology(tuple(draw(st.permutations(operators))), tuple(edges), partitions)


@st.composite
def plans(draw: st.DrawFn, topology: Topology) -> Plan:
    """Any plan within the bounds of a job."""
    return Plan({name: draw(st.integers(topology[name].min, topology.ceiling(name))) for name in topology.names})
