"""Says whose the seconds of a stage are that several operators share."""

from __future__ import annotations

from collections.abc import Mapping


def split(seconds: float, known: Mapping[str, float | None], records: Mapping[str, int]) -> dict[str, float]:
    """The seconds of a stage over its operators, in the proportion of those that are `known` inside them.

    Where some are not known, the others took what they show, and those share the rest by their records.

    >>> split(4.0, {"a": 1.0, "b": 2.0, "c": 0.0}, {})
    {'a': 1.3333333333333333, 'b': 2.6666666666666665, 'c': 0.0}
    >>> split(4.0, {"a": 1.0, "b": None}, {"b": 7})
    {'a': 1.0, 'b': 3.0}
    """
    shown = {name: each for name, each in known.items() if each is not None}
    hidden = {name: records.get(name, 0) for name in known if name not in shown}
    total = sum(shown.values())
    if not total and not hidden:
        hidden = {name: records.get(name, 0) for name in known}  # nothing came: the stage itself took its time
    rest = max(0.0, seconds - total) if hidden else 0.0
    scale = (seconds - rest) / total if total else 0.0
    weights = hidden if any(hidden.values()) else dict.fromkeys(hidden, 1)
    return {
        name: scale * shown.get(name, 0.0) + (rest * weights[name] / sum(weights.values()) if name in weights else 0.0)
        for name in known
    }
