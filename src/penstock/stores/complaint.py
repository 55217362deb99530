"""Turns pydantic's errors about a JSON text into one sentence about one field, named by its path."""

from __future__ import annotations

import json
import re
import typing
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from types import UnionType
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from penstock.model import InvalidValueError
from penstock.model.errors import unknown

WANTED = {
    "bool_type": "true or false",
    "dataclass_type": "an object",
    "dict_type": "an object",
    "float_type": "a number",
    "int_type": "a whole number",
    "string_type": "a string",
    "tuple_type": "a list",
}
UNKNOWN_FIELD = "unexpected_keyword_argument"
SHOWN_CHARACTERS = 40

Path = tuple[str | int, ...]


def complaint(error: ValidationError, given: Any, kind: type) -> InvalidValueError:
    """The most helpful of pydantic's errors about `given`, which should have been a `kind`.

    A field with a misspelt name is missing as well as unknown; the unknown name is reported.
    """
    details = error.errors(include_url=False)
    for detail in details:
        if detail["type"] == UNKNOWN_FIELD:
            *place, name = detail["loc"]
            return InvalidValueError(f"{spelt(place, 'field')}:", unknown(name, field_names(kind, place)))
    if details[0]["type"] == "json_invalid":  # half a character, for example, which Python's own reader accepts
        return InvalidValueError("the text", f"is not JSON: {details[0]['ctx']['error']}")
    if details[0]["type"] == "missing":
        return InvalidValueError(spelt(details[0]["loc"]), "is missing")
    # A field of several types brings one error for each of them; the longest path shows which type was meant.
    paths = [_walk(detail["loc"], given) for detail in details]
    path = max((path for path in paths if path[: len(paths[0])] == paths[0]), key=len)
    return _about(path, [detail for detail, other in zip(details, paths, strict=True) if other == path], given)


def spelt(path: Sequence[str | int], nameless: str = "the text") -> str:
    """A path as text.

    >>> spelt(("samples", 0, "operators", "split"))
    'samples[0].operators.split'
    """
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".") or nameless


def shown(value: Any) -> str:
    """A value as in the JSON text, shortened.

    >>> shown(True), shown(["long"] * 99)
    ('true', '["long", "long", "long", "long", "long",...')
    """
    text = json.dumps(value)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}..."


def field_names(kind: Any, path: Sequence[str | int]) -> list[str]:
    """The fields that a value at `path` inside a `kind` may have.

    >>> from penstock.model import Sample
    >>> field_names(Sample, ["processing_latency_ms"])
    ['mean', 'p50', 'p95', 'p99']
    """
    for step in path:
        inside = typing.get_type_hints(kind)[str(step)] if is_dataclass(kind) else _item(kind)
        kind = _without_none(inside)
    return [field.name for field in fields(kind)]


def _item(kind: Any) -> Any:
    """The type of the items of a list or an object of this type."""
    arguments = typing.get_args(kind)
    return arguments[1] if issubclass(typing.get_origin(kind), Mapping) else arguments[0]


def _without_none(kind: Any) -> Any:
    if typing.get_origin(kind) in (UnionType, typing.Union):
        return next(choice for choice in typing.get_args(kind) if choice is not type(None))
    return kind


def _about(path: Path, details: Sequence[ErrorDetails], given: Any) -> InvalidValueError:
    """The error of the value at `path`; `details` holds one error for each type it might have had."""
    detail, found = details[0], shown(_at(path, given))
    refusal = detail.get("ctx", {}).get("error")
    if isinstance(refusal, InvalidValueError):
        inside = _walk(re.findall(r"[^\s:]+", refusal.field), _at(path, given))
        return InvalidValueError(spelt(path + inside), _as_written(refusal.problem, _at(path + inside, given)))
    if detail["type"] == "enum":
        return InvalidValueError(spelt(path), f"must be {detail['ctx']['expected']}, not {found}")
    if detail["type"] == "too_long":
        return InvalidValueError(spelt(path), f"must have {detail['ctx']['max_length']} items, not {found}")
    wanted = [WANTED.get(detail["type"], detail["msg"]) for detail in details]
    return InvalidValueError(spelt(path), f"must be {' or '.join(wanted)}, not {found}")


def _walk(steps: Sequence[Any], given: Any) -> Path:
    """Those of the steps that lead into `given`; pydantic's names for types are dropped."""
    path: list[str | int] = []
    for step in steps:
        if (isinstance(given, dict) and step in given) or (isinstance(given, list) and step in range(len(given))):
            given = given[step]
            path.append(step)
    return tuple(path)


def _at(path: Path, given: Any) -> Any:
    for step in path:
        given = given[step]
    return given


def _as_written(problem: str, value: Any) -> str:
    """The problem with the number as in the text: -3 where the model has -3.0."""
    return problem.replace(f"not {float(value)!r}", f"not {value}") if type(value) is int else problem
