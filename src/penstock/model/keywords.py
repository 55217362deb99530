"""Refuses a misspelt keyword in one sentence that names the nearest one, where Python would raise a bare TypeError."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from penstock.model.errors import check_options

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


def knows_its_keywords(
    listed: str, others: Sequence[str] = (), prefix: str | None = None
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Makes a function refuse keywords that it does not have.

    listed  where a user reads what they mean
    others  further names that it takes as `**options`
    prefix  names that begin so are taken too

    >>> @knows_its_keywords("the README")
    ... def wait(*, seconds: float = 1.0, patience: int = 3) -> None: ...
    >>> wait(second=2.0)
    Traceback (most recent call last):
    penstock.model.errors.InvalidValueError: wait: option 'second' is not known; did you mean 'seconds'? There is: \
patience, seconds (the README says what each does)
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        owner = function.__qualname__.removesuffix(".__init__")

        @wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            given = [name for name in kwargs if prefix is None or not name.startswith(prefix)]
            check_options(owner, given, [*_keywords(function), *others], listed)
            return function(*args, **kwargs)

        return checked

    return decorate


def knows_its_fields(listed: str) -> Callable[[type[T]], type[T]]:
    """The same for what makes a dataclass."""

    def decorate(made: type[T]) -> type[T]:
        constructor: Any = made.__init__
        setattr(made, "__init__", knows_its_keywords(listed)(constructor))  # noqa: B010
        return made

    return decorate


def _keywords(function: Callable[..., object]) -> list[str]:
    """The names that a function takes as keywords, those of a TypedDict behind its `**` included."""
    names = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is not parameter.VAR_KEYWORD:
            names.append(parameter.name)
        elif typing.get_origin(hint := typing.get_type_hints(function)[parameter.name]) is typing.Unpack:
            names += typing.get_args(hint)[0].__annotations__
    return [name for name in names if name != "self"]
