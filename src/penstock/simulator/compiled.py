"""Compiles inner loops with numba, and keeps their types for mypy.

Compilation takes some seconds, so its result is cached. Numba renews a cached function when its own file changes but
not when another file with a function that it calls does; so the cache folder is named after a hash of all sources.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt

from penstock.performance import queueing

P = ParamSpec("P")
R = TypeVar("R")

Ints = npt.NDArray[np.int64]

HERE = Path(__file__).parent


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function that allocates no arrays.

    Then numba need not count references at every call and slice, which took four fifths of the time of a step.
    """
    with _cache_folder():
        jit: Any = numba.njit  # the option is not in its type
        return cast("Callable[P, R]", jit(cache=True, _nrt=False)(function))


@contextmanager
def _cache_folder() -> Iterator[None]:
    config: Any = numba.config  # its settings are defined at run time
    before = config.CACHE_DIR
    if not before and os.access(HERE, os.W_OK):  # otherwise numba uses a folder of the user
        config.CACHE_DIR = str(HERE / "__pycache__" / f"compiled-{_fingerprint()}")
    try:
        yield
    finally:
        config.CACHE_DIR = before


def _fingerprint() -> str:
    sources = [*sorted(HERE.glob("*.py")), Path(queueing.__file__)]
    return sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:12]


@compiled
def total(values: Ints) -> int:
    """The sum of an array; `values.sum()` would allocate one."""
    result = 0
    for value in values:
        result += value
    return result
