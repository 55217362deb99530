"""What the demo's job does with the clicks of a news site, wherever it runs: parse, enrich, find sessions, publish."""

from __future__ import annotations

from dataclasses import dataclass

NAME = "clicks"
ROBOTS = 10
"""One click in this many is a robot's, and parse drops it."""
CLICKS_OF_A_SESSION = 2
"""One click in this many opens a session, for which a record goes on."""


@dataclass(frozen=True, slots=True)
class Node:
    """An operator: those whose output it reads, the column it groups by, and how many records it emits for one."""

    name: str
    after: tuple[str, ...] = ()
    key: str | None = None
    selectivity: float = 1.0


GRAPH = (
    Node("parse", selectivity=1 - 1 / ROBOTS),
    Node("enrich", after=("parse",)),
    Node("sessions", after=("enrich",), key="user", selectivity=1 / CLICKS_OF_A_SESSION),
    Node("publish", after=("sessions",)),
)


def visits() -> dict[str, float]:
    """Records that reach each operator for each one of the source.

    >>> visits()
    {'parse': 1.0, 'enrich': 0.9, 'sessions': 0.9, 'publish': 0.45}
    """
    reached: dict[str, float] = {}
    emitted: dict[str, float] = {}
    for node in GRAPH:
        reached[node.name] = sum(emitted[parent] for parent in node.after) if node.after else 1.0
        emitted[node.name] = reached[node.name] * node.selectivity
    return reached
