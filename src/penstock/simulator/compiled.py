"""The compiler for inner loops, with its types kept. What it makes is cached beside the source, so only the first run
after a change waits for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

from numba import njit

P = ParamSpec("P")
R = TypeVar("R")


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    return cast("Callable[P, R]", njit(cache=True)(function))
