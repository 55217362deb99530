"""The heaviest path through a job, which determines its latency."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.model import Topology

NO_LINKS: Mapping[tuple[str, str], float] = {}


def critical_path(
    topology: Topology, weights: Mapping[str, float], links: Mapping[tuple[str, str], float] = NO_LINKS
) -> tuple[str, ...]:
    """The path from a root to a leaf with the largest sum of weights; among equals the first in graph order.

    `links` are the weights of edges; an edge that is not named weighs nothing.

    >>> from penstock.model import Operator
    >>> names = ("read", "fast", "slow", "join")
    >>> edges = (("read", "fast"), ("read", "slow"), ("fast", "join"), ("slow", "join"))
    >>> diamond = Topology(tuple(map(Operator, names)), edges)
    >>> critical_path(diamond, {"read": 1, "fast": 2, "slow": 5, "join": 1})
    ('read', 'slow', 'join')
    """
    heaviest: dict[str, float] = {}
    step: dict[str, str | None] = {}
    for name in reversed(topology.order):
        further = {child: links.get((name, child), 0.0) + heaviest[child] for child in topology.children[name]}
        step[name] = max(further, key=lambda child: further[child], default=None)
        heaviest[name] = weights[name] + max(further.values(), default=0.0)
    at: str | None = max(topology.roots, key=lambda root: heaviest[root])
    path = []
    while at is not None:
        path.append(at)
        at = step[at]
    return tuple(path)
