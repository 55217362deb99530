"""Model values as JSON and back. The dataclasses are the format: nothing lists their fields a second time."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import timedelta
from enum import Enum
from functools import cache
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from penstock.model import InvalidValueError, PenstockError, Slo
from penstock.model.errors import check_number
from penstock.stores.complaint import complaint

T = TypeVar("T")

PLAIN = frozenset((bool, int, float, str, type(None)))


def plain(value: Any) -> Any:
    """A model value as plain JSON values, without the fields that are None.

    >>> from penstock.model import Plan
    >>> plain(Plan({"split": 2}))
    {'parallelism': {'split': 2}}
    """
    if type(value) in PLAIN:
        return value
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, Slo):
        value = SloInNumbers.of(value)
    if is_dataclass(value):
        items = ((name, getattr(value, name)) for name in _field_names(value.__class__))
        return {name: plain(item) for name, item in items if item is not None}
    if hasattr(value, "tolist"):  # a numpy number or array
        return value.tolist()
    raise PenstockError(f"{value!r} cannot be written as JSON")


def to_json(value: Any) -> str:
    """A model value, or anything made of plain values, as JSON text.

    Infinity and NaN are written by those names, which is more than JSON has, so that a learner's state and a
    decision's figures come back bit for bit.
    """
    return json.dumps(plain(value), separators=(",", ":"))


def from_json(kind: type[T], text: str) -> T:
    """The value of type `kind` in a JSON text; an error names the path of the field.

    >>> from penstock.model import Plan
    >>> from_json(Plan, '{"parallelism": {"split": 2}}')
    Plan(parallelism=FrozenMap({'split': 2}), executors=None, placement=None, memory_level=None)
    >>> from_json(Plan, '{"parallelism": {"split": 0}}')
    Traceback (most recent call last):
    penstock.model.errors.InvalidValueError: parallelism.split must be a whole number of at least 1, not 0
    """
    try:
        value: T = _adapter(kind).validate_json(text, strict=True)  # type: ignore[arg-type]  # a type is hashable
    except ValidationError as error:
        raise complaint(error, parsed(text), kind) from None
    return value


def parsed(text: str) -> Any:
    """The plain values of a JSON text; a syntax error names its line and column."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno} column {error.colno}"
        raise InvalidValueError("the text", f"is not JSON: {error.msg} at {place}") from None
    except (RecursionError, ValueError) as error:  # nested too deeply; a number of thousands of digits
        raise InvalidValueError("the text", f"is not JSON that can be read: {error}") from None


@dataclass(frozen=True, slots=True)
class SloInNumbers:
    """Targets as programs write them: the unit is in the name, not in the value. A target that is None is not set.

    processing_latency_ms  milliseconds that a record may spend inside the job
    event_latency_ms       milliseconds that may pass from a record's creation to its leaving the job
    drain_seconds          seconds that a backlog may take to go away
    statistic              which figure of a latency counts: mean, p50, p95 or p99
    """

    processing_latency_ms: float | None = None
    event_latency_ms: float | None = None
    drain_seconds: float | None = None
    statistic: str = "mean"

    def __post_init__(self) -> None:
        self.slo()  # refuses invalid values

    @classmethod
    def of(cls, slo: Slo) -> SloInNumbers:
        return cls(slo.processing_latency_ms, slo.event_latency_ms, slo.drain_seconds, slo.statistic)

    def slo(self) -> Slo:
        """
        >>> SloInNumbers(event_latency_ms=500).slo() == Slo(event_latency="500 ms")
        True
        """
        return Slo(
            _length("processing_latency_ms", self.processing_latency_ms, timedelta(milliseconds=1)),
            _length("event_latency_ms", self.event_latency_ms, timedelta(milliseconds=1)),
            _length("drain_seconds", self.drain_seconds, timedelta(seconds=1)),
            self.statistic,
        )


def _length(field: str, count: float | None, unit: timedelta) -> timedelta | None:
    if count is None:
        return None
    check_number(field, count)
    try:
        length = count * unit
    except OverflowError:
        raise InvalidValueError(field, f"must be shorter than a million years, not {count!r}") from None
    if not length:
        raise InvalidValueError(field, f"must be positive, not {count!r}")
    return length


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


@cache
def _field_names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))
