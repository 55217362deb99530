"""The heaviest path through a job, which determines its latency."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.model import Topology


def critical_path(topology: Topology, weights: Mapping[str, float]) -> tuple[str, ...]:
    """The path from a root to a leaf with the largest sum of weights; among equals the first in graph order.

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
        step[name] = max(topology.children[name], key=lambda child: heaviest[child], default=None)
        child = step[name]
        heaviest[name] = weights[name] + (0.0 if child is None else heaviest[child])
    at: str | None = max(topology.roots, key=lambda root: heaviest[root])
    path = []
    while at is not None:
        path.append(at)
        at = step[at]
    return tuple(path)
