"""Reads options given as name=value."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from penstock.model import InvalidValueError
from penstock.model.options import Option

OFF = "off"


def pairs(field: str, given: Iterable[str]) -> dict[str, str]:
    """Names and values, the values still as text; the last value of a name counts.

    >>> pairs("--policy-option", ["alpha=0.8", "note=a=b"])
    {'alpha': '0.8', 'note': 'a=b'}
    """
    found = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not name.strip() or not equals:
            raise InvalidValueError(field, f"must be name=value, not {text!r}")
        found[name.strip()] = value.strip()
    return found


def typed(given: Mapping[str, str], known: Iterable[Option]) -> dict[str, Any]:
    """Values parsed as JSON where that is possible, else as text; options of type str stay text.

    >>> typed({"alpha": "0.8", "windows": '["22:00-06:00"]', "kind": "fast"}, [])
    {'alpha': 0.8, 'windows': ['22:00-06:00'], 'kind': 'fast'}
    """
    texts = {option.name for option in known if "str" in option.type.split(" | ")}
    return {name: value if name in texts else _read(value) for name, value in given.items()}


def by_guard(field: str, given: Iterable[str]) -> dict[str, dict[str, str] | None]:
    """Options for each guard from `guard.name=value`; `guard=off` leaves the guard out.

    >>> by_guard("--guard-option", ["patience.seconds=60", "quota=off"])
    {'patience': {'seconds': '60'}, 'quota': None}
    """
    found: dict[str, dict[str, str] | None] = {}
    for path, value in pairs(field, given).items():
        guard, dot, name = path.partition(".")
        if not dot and value == OFF:
            found[guard] = None
        elif not dot or not name:
            raise InvalidValueError(field, f"must be guard.name=value or guard={OFF}, not {path}={value}")
        else:
            found[guard] = (found.get(guard) or {}) | {name: value}
    return found


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
