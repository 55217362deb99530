"""Parameters of policies, guards and forecasters: declared once, with meaning and unit, read by everything.

A configurable class is a dataclass whose fields are made by `option`. The command line, the snapshot reader and
the reference pages all look at these fields; nothing lists them a second time.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping
from typing import Any

from penstock.model.errors import InvalidValueError, check_options
from penstock.model.frozen import FrozenMap


def option(default: Any, meaning: str, unit: str = "") -> Any:
    """A dataclass field with its meaning and unit.

    >>> @dataclasses.dataclass(frozen=True)
    ... class Threshold:
    ...     high: float = option(0.8, "utilisation above which an operator grows", "ratio")
    >>> [described.name for described in describe(Threshold)], configure(Threshold, {"high": 1}).high
    (['high'], 1.0)
    """
    return dataclasses.field(default=default, metadata={"meaning": meaning, "unit": unit})


@dataclasses.dataclass(frozen=True, slots=True)
class Option:
    """One parameter as a reader sees it."""

    name: str
    meaning: str
    unit: str
    type: str
    default: Any


def describe(configurable: type) -> tuple[Option, ...]:
    """The options that a configurable class declares."""
    return tuple(
        Option(field.name, field.metadata["meaning"], field.metadata["unit"], _word(field.type), field.default)
        for field in _fields(configurable)
    )


def configure(configurable: type, given: Mapping[str, Any], owner: str = "options", listed: str = "") -> Any:
    """Make an instance from plain values, refusing unknown names and wrong types by name.

    `listed` is where a user reads what the options mean.
    """
    hints = typing.get_type_hints(configurable)
    if not isinstance(given, Mapping):
        raise InvalidValueError(f"{owner}: options", f"must be given by name, not as {given!r}")
    check_options(owner, given, [field.name for field in _fields(configurable)], listed)
    return configurable(**{name: _fit(f"{owner}: {name}", value, hints[name]) for name, value in given.items()})


def _fields(configurable: type) -> list[dataclasses.Field[Any]]:
    if not dataclasses.is_dataclass(configurable):
        return []
    return [field for field in dataclasses.fields(configurable) if "meaning" in field.metadata]


def _word(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))


def _fit(field: str, value: Any, hint: Any) -> Any:
    """Let a whole number stand for a float, a list for a tuple, a dict for a mapping; refuse any other mismatch."""
    accepted = typing.get_args(hint) if typing.get_origin(hint) in (typing.Union, types.UnionType) else (hint,)
    for kind in accepted:
        plain, inner = typing.get_origin(kind) or kind, typing.get_args(kind)
        if plain is tuple and isinstance(value, list | tuple):
            return _fit_each(field, value, inner)
        if plain is Mapping and isinstance(value, Mapping):
            return FrozenMap({_fit(field, k, inner[0]): _fit(f"{field}: {k}", v, inner[1]) for k, v in value.items()})
        if plain is float and type(value) is int:
            return float(value)
        if plain is float and value != value:
            raise InvalidValueError(field, "must be a number, not nan")
        if type(value) is plain or (value is None and kind is type(None)):
            return value
    words = " or ".join("nothing" if kind is type(None) else _word(kind) for kind in accepted)
    raise InvalidValueError(field, f"must be of type {words}, not {value!r}")


def _fit_each(field: str, values: list[Any] | tuple[Any, ...], kinds: tuple[Any, ...]) -> tuple[Any, ...]:
    if kinds[1:] == (Ellipsis,):
        kinds = kinds[:1] * len(values)
    if len(values) != len(kinds):
        raise InvalidValueError(field, f"must have {len(kinds)} values, not {len(values)}")
    return tuple(_fit(field, value, kind) for value, kind in zip(values, kinds, strict=True))
