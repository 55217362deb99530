"""Finds the members of a family by name: one file in the family's package is one member."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from penstock.model.errors import InvalidValueError, unknown
from penstock.model.options import Option, configure, describe

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Entry:
    """A member as `penstock policies` shows it."""

    name: str
    summary: str
    source: str
    options: tuple[Option, ...]


class Catalog(Generic[T]):
    """The family in `package`: module `ds2` holds the class whose `name` is "ds2".

    Adding a file adds a member; only the modules that are asked for are imported. A name such as
    "my_module:MyPolicy" reaches a class outside of Penstock, so researchers can bring their own.
    """

    def __init__(self, kind: str, package: str) -> None:
        self.kind = kind
        self.package = package

    @property
    def plural(self) -> str:
        """What the command is called that lists the members."""
        return f"{self.kind.removesuffix('y')}ies" if self.kind.endswith("y") else f"{self.kind}s"

    def names(self) -> list[str]:
        path = importlib.import_module(self.package).__path__
        return sorted(module.name for module in pkgutil.iter_modules(path) if not module.name.startswith("_"))

    def load(self, name: str) -> type[T]:
        if ":" in name:
            return self._outside(name)
        if name not in self.names():
            raise InvalidValueError(self.kind, unknown(name, self.names()))
        module = importlib.import_module(f"{self.package}.{name}")
        for member in vars(module).values():
            if isinstance(member, type) and vars(member).get("name") == name:
                return cast("type[T]", member)
        raise InvalidValueError(self.kind, f"{name!r} has no class named so in {module.__name__}")

    def create(self, name: str, options: Mapping[str, Any] | None = None) -> T:
        made = configure(self.load(name), options or {}, f"{self.kind} {name}", f"`penstock {self.plural}`")
        return cast("T", made)

    def describe(self, name: str) -> Entry:
        member = self.load(name)
        summary = (member.__doc__ or "").strip().partition("\n")[0]
        return Entry(name, summary, getattr(member, "source", ""), describe(member))

    def _outside(self, name: str) -> type[T]:
        module_name, _, class_name = name.partition(":")
        try:
            member = getattr(importlib.import_module(module_name), class_name)
        except Exception as error:  # the module is not ours: anything may happen in it
            raise InvalidValueError(self.kind, f"{name!r} cannot be loaded: {error}") from None
        if not isinstance(member, type) or not isinstance(getattr(member, "name", None), str):
            raise InvalidValueError(self.kind, f"{name!r} must be a class with a name of its own")
        return cast("type[T]", member)
